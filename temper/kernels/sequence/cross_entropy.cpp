#include "temper/kernels/sequence/cross_entropy.h"

#include "temper/kernels/simd/target.h"

namespace temper::kernels {

namespace baseline {
extern const CrossEntropyTable cross_entropy_table;
}
#if defined(__x86_64__)
namespace avx2 {
extern const CrossEntropyTable cross_entropy_table;
}
namespace avx512 {
extern const CrossEntropyTable cross_entropy_table;
}
#elif defined(__aarch64__)
namespace neon {
extern const CrossEntropyTable cross_entropy_table;
}
#endif

namespace {

const CrossEntropyTable& cross_entropy_unit() {
  static const PerTarget<CrossEntropyTable> tables {
    .baseline = &baseline::cross_entropy_table,
#if defined(__x86_64__)
    .avx2 = &avx2::cross_entropy_table, .avx512 = &avx512::cross_entropy_table,
#elif defined(__aarch64__)
    .neon = &neon::cross_entropy_table,
#endif
  };
  return tables.in_use();
}

} // namespace

CrossEntropySum cross_entropy_forward(
    const CrossEntropyRows& rows,
    float* log_sums) {
  return cross_entropy_unit().forward(rows, log_sums);
}

void cross_entropy_backward(
    const CrossEntropyRows& rows,
    const float* log_sums,
    float factor,
    float* dscores) {
  cross_entropy_unit().backward(rows, log_sums, factor, dscores);
}

} // namespace temper::kernels
