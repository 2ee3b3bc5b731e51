// The layout of one sample in a batch: what it takes, and where. Decided once
// from the source, the augmentation and the options, before any memory is
// taken.
// Private to data/loader.
#pragma once

#include <cstdint>
#include <vector>

#include "temper/data/loader/loader.h"
#include "temper/data/sample/source.h"
#include "temper/data/transform/transform.h"

namespace temper::data {

struct SampleLayout {
  Input input = Input::image;
  Target target = Target::label;
  Element element = Element::f32;
  bool channels_last = true;
  // The size of an image.
  int height = 0;
  int width = 0;
  int channels = 0;
  // The shape of one input: {H, W, C} or {C, H, W} or as the source says.
  std::vector<std::int64_t> shape;
  std::size_t input_count = 0; // numbers in one input
  std::size_t target_count = 1; // labels, tokens or numbers in one target
  int classes = 0; // 0: labels are not checked

  std::size_t input_bytes() const {
    return input_count * bytes_of(element);
  }
  std::size_t target_bytes() const;
  // Inputs and targets of a batch share one allocation, so that a device gets
  // them in one copy: the targets begin here, after `batch` inputs.
  std::size_t targets_offset(int batch) const;
  // The whole of it, in whole pages.
  std::size_t batch_bytes(int batch) const;
};

// Apple's page, and a multiple of everybody else's.
constexpr std::size_t kPageBytes = 16384;

// Width and height stay 0 when neither the augmentation nor the source knows
// them. Error when the two do not go together.
SampleLayout layout_of(
    const SourceInfo& info,
    const Augment* augment,
    Element element,
    bool channels_last);

// Completes a layout of images with their size.
void set_image_size(SampleLayout& layout, int height, int width, int channels);

} // namespace temper::data
