#include "temper/kernels/sequence/layer_norm.h"

#include "temper/kernels/simd/target.h"

namespace temper::kernels {

namespace baseline {
extern const LayerNormTable layer_norm_table;
}
#if defined(__x86_64__)
namespace avx2 {
extern const LayerNormTable layer_norm_table;
}
namespace avx512 {
extern const LayerNormTable layer_norm_table;
}
#elif defined(__aarch64__)
namespace neon {
extern const LayerNormTable layer_norm_table;
}
#endif

namespace {

const LayerNormTable& layer_norm_unit() {
  static const PerTarget<LayerNormTable> tables {
    .baseline = &baseline::layer_norm_table,
#if defined(__x86_64__)
    .avx2 = &avx2::layer_norm_table, .avx512 = &avx512::layer_norm_table,
#elif defined(__aarch64__)
    .neon = &neon::layer_norm_table,
#endif
  };
  return tables.in_use();
}

} // namespace

void layer_norm_forward(const LayerNormForward& work) {
  layer_norm_unit().forward(work);
}

void layer_norm_backward(const LayerNormBackward& work) {
  layer_norm_unit().backward(work);
}

} // namespace temper::kernels
