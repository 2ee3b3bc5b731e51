#include "temper/kernels/sequence/linear.h"

#include "temper/kernels/simd/target.h"

namespace temper::kernels {

namespace baseline {
extern const LinearTable linear_table;
}
#if defined(__x86_64__)
namespace avx2 {
extern const LinearTable linear_table;
}
namespace avx512 {
extern const LinearTable linear_table;
}
#elif defined(__aarch64__)
namespace neon {
extern const LinearTable linear_table;
}
#endif

namespace {

const LinearTable& linear_unit() {
  static const PerTarget<LinearTable> tables {
    .baseline = &baseline::linear_table,
#if defined(__x86_64__)
    .avx2 = &avx2::linear_table, .avx512 = &avx512::linear_table,
#elif defined(__aarch64__)
    .neon = &neon::linear_table,
#endif
  };
  return tables.in_use();
}

} // namespace

void linear_forward(const LinearForward& work) {
  linear_unit().forward(work);
}

void linear_backward(const LinearBackward& work) {
  linear_unit().backward(work);
}

} // namespace temper::kernels
