#include "temper/kernels/sequence/ranks.h"

#include "temper/kernels/sequence/chunks.h"
#include "temper/kernels/simd/scratch.h"

namespace temper::kernels::TEMPER_TARGET {
namespace {

constexpr std::int64_t kRankedAtOnce = 256; // rows

// Scores that stand above the label's, and whether all were finite: a number
// minus itself is zero then.
struct Standing {
  std::int64_t above = 0;
  bool finite = true;
};

// kEqual: an equal score counts as higher.
template <bool kEqual>
[[gnu::always_inline]] inline void
stand(const float* x, std::int64_t count, float label, Standing& standing) {
  const Vec own = broadcast(label);
  const Vec zero = {};
  IntVec above = {};
  IntVec finite = ~IntVec{};
  std::int64_t c = 0;
  for (; c + kLanes <= count; c += kLanes) {
    const Vec v = load(x + c);
    above -= reinterpret_cast<IntVec>(kEqual ? v >= own : v > own);
    finite &= reinterpret_cast<IntVec>(v - v == zero);
  }
  for (int i = 0; i < kLanes; ++i) {
    standing.above += above[i];
    standing.finite &= finite[i] != 0;
  }
  for (; c < count; ++c) {
    standing.above += kEqual ? x[c] >= label : x[c] > label;
    standing.finite &= x[c] - x[c] == 0;
  }
}

void add_rank(const RankedRows& r, std::int64_t row, RightRows& right) {
  const float* x = r.scores + row * r.stride;
  const std::int64_t label = r.labels[row];
  if (label < 0 || label >= r.classes) {
    right.labels_in_range = false;
    return;
  }
  Standing standing;
  standing.finite = x[label] - x[label] == 0;
  stand<true>(x, label, x[label], standing);
  stand<false>(x + label + 1, r.classes - label - 1, x[label], standing);
  if (!standing.finite) return;
  right.best += standing.above < 1;
  right.among_top += standing.above < r.top;
}

RightRows count_rows(const RankedRows& r) {
  const std::int64_t chunks = (r.rows + kRankedAtOnce - 1) / kRankedAtOnce;
  auto* parts = reinterpret_cast<RightRows*>(scratch(
      0, static_cast<std::size_t>(chunks) * sizeof(RightRows) / sizeof(float)));
  for_each_chunk_of(r.rows * r.classes * 4, chunks, [&](std::int64_t chunk) {
    RightRows right;
    const std::int64_t end = (chunk + 1) * kRankedAtOnce;
    for (std::int64_t i = chunk * kRankedAtOnce; i < end && i < r.rows; ++i)
      add_rank(r, i, right);
    parts[chunk] = right;
  });
  RightRows all;
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
    all.best += parts[chunk].best;
    all.among_top += parts[chunk].among_top;
    all.labels_in_range &= parts[chunk].labels_in_range;
  }
  return all;
}

} // namespace

extern const RanksTable ranks_table;
const RanksTable ranks_table{count_rows};

} // namespace temper::kernels::TEMPER_TARGET
