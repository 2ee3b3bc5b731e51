// Pillow's resize of eight-bit images, bit for bit: a pass across, rounded to
// eight bits, then a pass down, both in 32-bit integers. The same bits on every
// vector unit. Used by the transforms of the data room.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "temper/kernels/resample.h"

namespace temper::kernels {

// A window of an image; rows lie row_bytes apart. kReadAhead bytes behind its
// last pixel must be readable.
struct Window {
  static constexpr std::size_t kReadAhead = 16;

  const std::uint8_t* pixels = nullptr;
  std::size_t row_bytes = 0;
  int width = 0;
  int height = 0;
  int channels = 3; // 1 or 3, interleaved
};

// The memory that a thread keeps between calls; it only grows.
struct ResizeScratch {
  WeightsCache weights;
  std::vector<std::uint8_t> rows;
  std::vector<int> columns;
};

// Fills out_height rows of out_width pixels without gaps. The filter sees the
// window only, never what is around it. All sizes are at least 1.
void resize(
    const Window& in,
    int out_width,
    int out_height,
    Filter filter,
    std::uint8_t* out,
    ResizeScratch& scratch);

// The same, plainly: what the tests hold resize against.
void resize_reference(
    const Window& in,
    int out_width,
    int out_height,
    Filter filter,
    std::uint8_t* out);

} // namespace temper::kernels
