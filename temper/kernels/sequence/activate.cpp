#include "temper/kernels/sequence/activate.h"

#include "temper/kernels/simd/target.h"

namespace temper::kernels {

namespace baseline {
extern const ActivateTable activate_table;
}
#if defined(__x86_64__)
namespace avx2 {
extern const ActivateTable activate_table;
}
namespace avx512 {
extern const ActivateTable activate_table;
}
#elif defined(__aarch64__)
namespace neon {
extern const ActivateTable activate_table;
}
#endif

namespace {

const ActivateTable& activate_unit() {
  static const PerTarget<ActivateTable> tables {
    .baseline = &baseline::activate_table,
#if defined(__x86_64__)
    .avx2 = &avx2::activate_table, .avx512 = &avx512::activate_table,
#elif defined(__aarch64__)
    .neon = &neon::activate_table,
#endif
  };
  return tables.in_use();
}

} // namespace

void activate_forward(
    Activation act,
    std::int64_t count,
    const float* x,
    float* y) {
  activate_unit().forward(act, count, x, y);
}

void activate_backward(
    Activation act,
    std::int64_t count,
    const float* x,
    const float* gradient,
    float* dx) {
  activate_unit().backward(act, count, x, gradient, dx);
}

} // namespace temper::kernels
