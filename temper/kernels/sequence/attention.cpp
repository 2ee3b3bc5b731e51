#include "temper/kernels/sequence/attention.h"

#include "temper/kernels/simd/target.h"

namespace temper::kernels {

namespace baseline {
extern const AttentionTable attention_table;
}
#if defined(__x86_64__)
namespace avx2 {
extern const AttentionTable attention_table;
}
namespace avx512 {
extern const AttentionTable attention_table;
}
#elif defined(__aarch64__)
namespace neon {
extern const AttentionTable attention_table;
}
#endif

namespace {

const AttentionTable& attention_unit() {
  static const PerTarget<AttentionTable> tables {
    .baseline = &baseline::attention_table,
#if defined(__x86_64__)
    .avx2 = &avx2::attention_table, .avx512 = &avx512::attention_table,
#elif defined(__aarch64__)
    .neon = &neon::attention_table,
#endif
  };
  return tables.in_use();
}

} // namespace

void attention_forward(const AttentionForward& work) {
  attention_unit().forward(work);
}

void attention_backward(const AttentionBackward& work) {
  attention_unit().backward(work);
}

} // namespace temper::kernels
