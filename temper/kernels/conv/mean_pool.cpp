#include "temper/kernels/conv/mean_pool.h"

#include <algorithm>

#include "temper/kernels/conv/mean_pool_table.h"
#include "temper/kernels/simd/target.h"
#include "temper/kernels/simd/threads.h"

namespace temper::kernels {

namespace baseline {
extern const MeanPoolTable mean_pool_table;
}
#if defined(__x86_64__)
namespace avx2 {
extern const MeanPoolTable mean_pool_table;
}
namespace avx512 {
extern const MeanPoolTable mean_pool_table;
}
#elif defined(__aarch64__)
namespace neon {
extern const MeanPoolTable mean_pool_table;
}
#endif

namespace {

const MeanPoolTable& mean_pool_table_in_use() {
  static const PerTarget<MeanPoolTable> tables {
    &baseline::mean_pool_table,
#if defined(__x86_64__)
        &avx2::mean_pool_table, &avx512::mean_pool_table, nullptr
#elif defined(__aarch64__)
        nullptr, nullptr, &neon::mean_pool_table
#endif
  };
  return tables.in_use();
}

// Images are independent: how they are cut changes no bit.
template <class Work>
void over_images(const MeanPoolShape& shape, const Work& work) {
  constexpr std::int64_t kChunkNumbers = 32768;
  const std::int64_t numbers = shape.images * shape.pixels * shape.channels;
  const std::int64_t chunks = std::clamp<std::int64_t>(
      numbers / kChunkNumbers, 1, std::max<std::int64_t>(shape.images, 1));
  for_each_chunk(chunks, [&](std::int64_t chunk) {
    work(chunk_range(shape.images, 1, chunks, chunk));
  });
}

} // namespace

void mean_pool_forward(
    const MeanPoolShape& shape,
    const float* x,
    float* means) {
  const MeanPoolTable& simd = mean_pool_table_in_use();
  over_images(shape, [&](ChunkRange range) {
    simd.forward(shape, range.begin, range.end, x, means);
  });
}

void mean_pool_backward(
    const MeanPoolShape& shape,
    const float* gradient,
    float* x_gradient) {
  const MeanPoolTable& simd = mean_pool_table_in_use();
  over_images(shape, [&](ChunkRange range) {
    simd.backward(shape, range.begin, range.end, gradient, x_gradient);
  });
}

} // namespace temper::kernels
