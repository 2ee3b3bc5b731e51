// The augmentations that have a name: data.augment = "none", "cifar",
// "imagenet", "strong".
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

// The preset's changes to a sample in training or validation. `image_size` is
// the edge of what comes out; 0: the preset's own (224 for imagenet and strong
// from images of different sizes, else the source's). Error for an unknown
// preset, with the nearest one, and for a source without images.
Augment make_augment(
    const std::string& preset,
    bool train,
    int image_size,
    const SourceInfo& source,
    Filter filter = Filter::bilinear);

} // namespace temper::data
