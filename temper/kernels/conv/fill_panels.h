// Rows of x into panels of a few columns, through the normalisation before the
// convolution. For files named *_simd.cpp.
// Private to kernels/conv.
#pragma once

#include "temper/kernels/conv/pointwise_panel.h"
#include "temper/kernels/conv/row_source_simd.h"

namespace temper::kernels::TEMPER_TARGET {

// before(x rows) into panels of `panel_rows` rows, from row `at` of them on.
struct FillPanels {
  const Affine& before;
  std::int64_t rows;
  std::int64_t inputs;
  const float* x;
  float* panels;
  std::int64_t panel_rows;
  std::int64_t at;

  template <Activation kAct>
  void run() const {
    for (std::int64_t p = 0; p * kTileColumns < inputs; ++p) {
      const std::int64_t width = panel_width(inputs, p);
      const std::int64_t wide = whole_vectors(width);
      const std::int64_t column = p * kTileColumns;
      const Affine columns{
          before.scale + column, before.shift + column, before.act};
      float* to = panels + column * panel_rows + at * wide;
      affine_rows<kAct>(columns, rows, width, x + column, inputs, to, wide);
      if (wide > width) clear_rest(width, wide, to);
    }
  }

  void copy() const {
    for (std::int64_t p = 0; p * kTileColumns < inputs; ++p) {
      const std::int64_t width = panel_width(inputs, p);
      const std::int64_t wide = whole_vectors(width);
      const std::int64_t column = p * kTileColumns;
      float* to = panels + column * panel_rows + at * wide;
      if (wide > width) {
        copy_part(column, width, wide, to);
        continue;
      }
      for (std::int64_t r = 0; r < rows; ++r)
        copy_floats(width, x + r * inputs + column, to + r * wide);
    }
  }

  // A panel that ends inside a vector: whole vectors of x, as long as there is
  // more of it, without the numbers that belong to the next row.
  void copy_part(
      std::int64_t column,
      std::int64_t width,
      std::int64_t wide,
      float* to) const {
    const std::int64_t whole = width / kLanes * kLanes;
    const int rest = static_cast<int>(width - whole);
    IntVec mask = {};
    for (int i = 0; i < rest; ++i)
      mask[i] = -1;
    const std::int64_t stride = inputs;
    const float* from = x + column;
    const float* end = x + rows * inputs;
    for (std::int64_t r = 0, left = rows; r < left; ++r, from += stride) {
      copy_floats(whole, from, to);
      store(
          to + whole,
          from + wide <= end ? masked(mask, load(from + whole))
                             : load_some(from + whole, rest));
      to += wide;
    }
  }

  void clear_rest(std::int64_t width, std::int64_t wide, float* to) const {
    for (std::int64_t r = 0; r < rows; ++r)
      clear(wide - width, to + r * wide + width);
  }

  void fill() const {
    if (before.scale == nullptr)
      copy();
    else
      with_activation(before.act, *this);
  }
};

} // namespace temper::kernels::TEMPER_TARGET
