#include "temper/kernels/sequence/transformer.h"

#include "temper/kernels/simd/target.h"

namespace temper::kernels {

namespace baseline {
extern const TransformerTable transformer_table;
}
#if defined(__x86_64__)
namespace avx2 {
extern const TransformerTable transformer_table;
}
namespace avx512 {
extern const TransformerTable transformer_table;
}
#elif defined(__aarch64__)
namespace neon {
extern const TransformerTable transformer_table;
}
#endif

namespace {

const TransformerTable& transformer_unit() {
  static const PerTarget<TransformerTable> tables {
    .baseline = &baseline::transformer_table,
#if defined(__x86_64__)
    .avx2 = &avx2::transformer_table, .avx512 = &avx512::transformer_table,
#elif defined(__aarch64__)
    .neon = &neon::transformer_table,
#endif
  };
  return tables.in_use();
}

} // namespace

void transformer_forward(const TransformerForward& work) {
  transformer_unit().forward(work);
}

void transformer_backward(const TransformerBackward& work) {
  transformer_unit().backward(work);
}

} // namespace temper::kernels
