#include "temper/kernels/winograd/winograd_plan.h"

#include <algorithm>

#include "temper/kernels/simd/scratch.h"
#include "temper/kernels/winograd/winograd.h"

namespace temper::kernels {
namespace {

std::int64_t rounded_up(std::int64_t count, std::int64_t unit) {
  return (count + unit - 1) / unit * unit;
}

// Grid points of the target become tiles.
void lay_tiles(WinogradJob& job, std::int64_t batch) {
  const int outputs = outputs_of(job.tile);
  const std::int64_t step = job.target.step;
  job.tile_rows =
      rounded_up(job.target.height, step * outputs) / step / outputs;
  job.tile_columns =
      rounded_up(job.target.width, step * outputs) / step / outputs;
  job.tiles = batch * job.tile_rows * job.tile_columns;
}

WinogradSide side_of(
    std::int64_t height,
    std::int64_t width,
    std::int64_t channels,
    int lanes) {
  WinogradSide side;
  side.height = height;
  side.width = width;
  side.channels = channels;
  side.padded = rounded_up(channels, lanes);
  return side;
}

WinogradJob common_job(const ConvShape& shape, WinogradTile tile) {
  WinogradJob job;
  job.tile = tile;
  job.in_channels = shape.in_channels;
  job.out_channels = shape.out_channels;
  return job;
}

} // namespace

int outputs_of(WinogradTile tile) {
  return tile == WinogradTile::kTwo ? 2 : 4;
}

int points_of(WinogradTile tile) {
  switch (tile) {
    case WinogradTile::kTwo:
      return 16;
    case WinogradTile::kFourStrided:
      return 25;
    case WinogradTile::kFour:
      break;
  }
  return 36;
}

// y[o] = sum over k of x[stride o + k - pad] w[k]. With x's grid point
// origin + o + j of phase p, that is pixel stride (origin + o + j) + p, tap k
// is stride (origin + j) + p + pad.
WinogradJob forward_job(const ConvShape& shape, WinogradTile tile, int lanes) {
  WinogradJob job = common_job(shape, tile);
  job.source =
      side_of(shape.in_height, shape.in_width, shape.in_channels, lanes);
  job.target =
      side_of(shape.out_height(), shape.out_width(), shape.out_channels, lanes);
  const int stride = static_cast<int>(shape.stride_height);
  const int pad = static_cast<int>(shape.pad_height);
  job.source.step = stride;
  job.source.origin = stride == 1 ? -pad : -((pad + 1) / 2);
  for (int phase = 0; phase < 2; ++phase)
    for (int j = 0; j < 3; ++j) {
      const int k = stride * (job.source.origin + j) + phase + pad;
      job.tap[phase][j] = k >= 0 && k < 3 ? k : -1;
    }
  lay_tiles(job, shape.batch);
  return job;
}

// x'[stride i + p] = sum over k of y'[i + (p + pad - k) / stride] w[k]: with
// the gradient's grid point origin + i + j, tap k is p + pad - stride (origin +
// j).
WinogradJob
data_gradient_job(const ConvShape& shape, WinogradTile tile, int lanes) {
  WinogradJob job = common_job(shape, tile);
  job.transposed = true;
  job.source =
      side_of(shape.out_height(), shape.out_width(), shape.out_channels, lanes);
  job.target =
      side_of(shape.in_height, shape.in_width, shape.in_channels, lanes);
  const int stride = static_cast<int>(shape.stride_height);
  const int pad = static_cast<int>(shape.pad_height);
  job.target.step = stride;
  job.source.origin = stride == 1 ? pad - 2 : pad - 1;
  for (int phase = 0; phase < 2; ++phase)
    for (int j = 0; j < 3; ++j) {
      const int k = phase + pad - stride * (job.source.origin + j);
      job.tap[phase][j] = k >= 0 && k < 3 ? k : -1;
    }
  lay_tiles(job, shape.batch);
  return job;
}

std::int64_t odd_cache_lines(std::int64_t count) {
  return ((count + 15) / 16 | 1) * 16;
}

const float* many_zeros(std::int64_t count) {
  float* zeros = scratch(4, static_cast<std::size_t>(count));
  std::fill_n(zeros, count, 0.0F);
  return zeros;
}

bool winograd_takes(const ConvShape& shape) {
  const bool square = shape.kernel_height == 3 && shape.kernel_width == 3 &&
      shape.stride_height == shape.stride_width &&
      shape.pad_height == shape.pad_width;
  if (!square || shape.out_height() < 1 || shape.out_width() < 1) return false;
  return (shape.stride_height == 1 && shape.pad_height <= 2) ||
      (shape.stride_height == 2 && shape.pad_height <= 1);
}

std::int64_t winograd_products(const ConvShape& shape, WinogradTile tile) {
  const WinogradJob job = forward_job(shape, tile, 1);
  const std::int64_t phases = job.source.phases();
  return job.tile_rows * job.tile_columns * points_of(tile) * phases;
}

WinogradTile winograd_tile(const ConvShape& shape) {
  if (shape.stride_height == 2) return WinogradTile::kFourStrided;
  return winograd_products(shape, WinogradTile::kTwo) <=
          winograd_products(shape, WinogradTile::kFour)
      ? WinogradTile::kTwo
      : WinogradTile::kFour;
}

} // namespace temper::kernels
