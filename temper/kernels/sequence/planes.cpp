#include "temper/kernels/sequence/planes.h"

#include <algorithm>

#include "temper/kernels/simd/target.h"
#include "temper/kernels/simd/threads.h"

namespace temper::kernels {

namespace baseline {
extern const PlanesTable planes_table;
}
#if defined(__x86_64__)
namespace avx2 {
extern const PlanesTable planes_table;
}
namespace avx512 {
extern const PlanesTable planes_table;
}
#elif defined(__aarch64__)
namespace neon {
extern const PlanesTable planes_table;
}
#endif

namespace {

const PlanesTable& planes_unit() {
  static const PerTarget<PlanesTable> tables {
    .baseline = &baseline::planes_table,
#if defined(__x86_64__)
    .avx2 = &avx2::planes_table, .avx512 = &avx512::planes_table,
#elif defined(__aarch64__)
    .neon = &neon::planes_table,
#endif
  };
  return tables.in_use();
}

} // namespace

void transpose_each(
    std::int64_t count,
    std::int64_t rows,
    std::int64_t columns,
    const float* from,
    float* to) {
  constexpr std::int64_t kChunkNumbers = 32768;
  constexpr std::int64_t kBand = 16; // rows: a cache line of every plane
  const PlanesTable& simd = planes_unit();
  const std::int64_t size = rows * columns;
  const std::int64_t bands = std::clamp<std::int64_t>(
      size / kChunkNumbers, 1, (rows + kBand - 1) / kBand);
  const std::int64_t matrices = std::clamp<std::int64_t>(
      kChunkNumbers / std::max<std::int64_t>(size, 1),
      1,
      std::max<std::int64_t>(count, 1));
  const std::int64_t groups = (count + matrices - 1) / matrices;
  for_each_chunk(groups * bands, [&](std::int64_t chunk) {
    const std::int64_t first = chunk / bands * matrices;
    const ChunkRange band = chunk_range(rows, kBand, bands, chunk % bands);
    for (std::int64_t i = first; i < std::min(first + matrices, count); ++i)
      simd.transpose_rows(
          rows, columns, band.begin, band.end, from + i * size, to + i * size);
  });
}

} // namespace temper::kernels
