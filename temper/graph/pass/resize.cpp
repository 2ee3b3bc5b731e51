#include "temper/graph/pass/resize.h"

#include <algorithm>
#include <numeric>

#include "temper/base/text.h"

namespace temper::graph {
namespace {

Size size_times(const Size& a, const Size& b) {
  if (a.fixed() && b.fixed()) return a.value * b.value;
  if (a.fixed() && a.value == 1) return b;
  if (b.fixed() && b.value == 1) return a;
  const auto text = [](const Size& size) {
    return size.fixed() ? cat("Integer(", size.value, ")") : size.expression;
  };
  return {a.value * b.value, cat("Mul(", text(a), ", ", text(b), ")")};
}

} // namespace

std::optional<Size>
scaled(const Size& size, std::int64_t before, std::int64_t after) {
  if (size.value % before != 0) return std::nullopt;
  if (size.fixed()) return size.value / before * after;
  const std::vector<std::string> symbols = symbols_of(size);
  if (std::count(symbols.begin(), symbols.end(), symbols.front()) !=
      static_cast<std::ptrdiff_t>(symbols.size()))
    return std::nullopt;
  const auto at = [&](std::int64_t value) {
    return evaluate(size, {{symbols.front(), value}});
  };
  const std::int64_t slope = at(3) - at(2);
  const std::int64_t offset = at(2) - 2 * slope;
  if (slope <= 0 || at(5) != 5 * slope + offset || slope % before != 0 ||
      offset % before != 0)
    return std::nullopt;
  return linear_size(
      symbols.front(),
      (size.value - offset) / slope,
      slope / before * after,
      offset / before * after);
}

Sizes dense_strides(const Sizes& sizes, const Sizes& old_strides) {
  std::vector<std::size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), 0);
  if (old_strides.size() == sizes.size())
    std::stable_sort(
        order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
          return old_strides[a].value > old_strides[b].value;
        });
  Sizes strides(sizes.size());
  Size step = 1;
  for (std::size_t i = order.size(); i-- > 0;) {
    strides[order[i]] = step;
    step = size_times(sizes[order[i]], step);
  }
  return strides;
}

} // namespace temper::graph
