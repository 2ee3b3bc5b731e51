#include "temper/graph/ir/strides.h"

#include <algorithm>

#include "temper/graph/ir/saturating.h"
#include "temper/graph/ir/weights.h"

namespace temper::graph {

Ints strides_in_order(const Ints& sizes) {
  Ints strides(sizes.size(), 1);
  for (std::size_t i = sizes.size(); i-- > 1;)
    strides[i - 1] = times(strides[i], std::max<std::int64_t>(sizes[i], 1));
  return strides;
}

bool in_order(const Ints& sizes, const Ints& strides) {
  std::int64_t expected = 1;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] == 0) return true;
    if (sizes[i] == 1) continue;
    if (strides[i] != expected) return false;
    expected = times(expected, sizes[i]);
  }
  return true;
}

Ints channels_last_strides(const Ints& sizes) {
  const Ints rows = strides_in_order({sizes[0], sizes[2], sizes[3], sizes[1]});
  return {rows[0], rows[3], rows[1], rows[2]};
}

bool has_channels_last(const Ints& sizes, const Ints& strides) {
  return sizes.size() == 4 &&
      in_order(
             {sizes[0], sizes[2], sizes[3], sizes[1]},
             {strides[0], strides[2], strides[3], strides[1]});
}

// Dimensions that follow each other without a gap act as one; each such run
// must be cut into whole new dimensions. Both are walked from the last.
std::optional<Ints>
viewed(const Ints& sizes, const Ints& strides, const Ints& wanted) {
  if (element_count(sizes) == 0 || sizes.empty())
    return strides_in_order(wanted);
  Ints result(wanted.size(), 1);
  std::size_t next = wanted.size();
  std::int64_t run_stride = strides.back();
  std::int64_t run = 1;
  std::int64_t cut = 1;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    run = times(run, sizes[i]);
    const bool ends = i == 0 ||
        (sizes[i - 1] != 1 && strides[i - 1] != times(run, run_stride));
    if (!ends) continue;
    while (next > 0 && (cut < run || wanted[next - 1] == 1)) {
      --next;
      result[next] = times(cut, run_stride);
      cut = times(cut, wanted[next]);
    }
    if (cut != run) return std::nullopt;
    if (i > 0) {
      run_stride = strides[i - 1];
      run = 1;
      cut = 1;
    }
  }
  return next == 0 ? std::optional(result) : std::nullopt;
}

} // namespace temper::graph
