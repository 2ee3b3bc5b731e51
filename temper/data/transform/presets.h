// The augmentations that have a name: data.augment = "none", "cifar",
// "imagenet", "strong", and the parts that go with them: ["cifar", "jitter"].
#pragma once

#include <string>
#include <vector>

#include "temper/data/sample/source.h"
#include "temper/data/transform/resize.h"
#include "temper/data/transform/transform.h"

namespace temper::data {

struct Preset {
  std::string name;
  std::string help; // one line
};
const std::vector<Preset>& presets();

// Whether one of them brings images of different sizes to one.
bool has_own_size(const std::vector<std::string>& names);

// The changes to a sample in training or validation, in the order of the
// names. `image_size` is the edge of what comes out; 0: the preset's own (224
// for imagenet and strong from images of different sizes, else the source's).
// Error for an unknown name, with the nearest one, for two that cut images, and
// for a source without images.
Augment make_augment(
    const std::vector<std::string>& names,
    bool train,
    int image_size,
    const SourceInfo& source,
    Filter filter = Filter::bilinear);

} // namespace temper::data
