#include "temper/kernels/sequence/ranks.h"

#include "temper/kernels/simd/target.h"

namespace temper::kernels {

namespace baseline {
extern const RanksTable ranks_table;
}
#if defined(__x86_64__)
namespace avx2 {
extern const RanksTable ranks_table;
}
namespace avx512 {
extern const RanksTable ranks_table;
}
#elif defined(__aarch64__)
namespace neon {
extern const RanksTable ranks_table;
}
#endif

namespace {

const RanksTable& ranks_unit() {
  static const PerTarget<RanksTable> tables {
    .baseline = &baseline::ranks_table,
#if defined(__x86_64__)
    .avx2 = &avx2::ranks_table, .avx512 = &avx512::ranks_table,
#elif defined(__aarch64__)
    .neon = &neon::ranks_table,
#endif
  };
  return tables.in_use();
}

} // namespace

RightRows count_right(const RankedRows& rows) {
  return ranks_unit().count(rows);
}

} // namespace temper::kernels
