// A dimension of a tensor: a number, or an expression of symbols such as the
// batch. Expressions are kept as torch.export writes them
// ("Mul(Integer(49), Symbol('s77', positive=True, integer=True))"), so that a
// file goes out as it came in, and are evaluated when the symbols have values.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace temper::graph {

struct Size {
  std::int64_t value = 0; // of an expression: the exporter's example
  std::string expression; // empty: the size is fixed

  Size() = default;
  Size(std::int64_t fixed) : value(fixed) {} // NOLINT: 3 is a size
  Size(std::int64_t example, std::string text)
      : value(example), expression(std::move(text)) {}

  bool fixed() const {
    return expression.empty();
  }
  friend bool operator==(const Size&, const Size&) = default;
};

using Sizes = std::vector<Size>;
// The value of each symbol: {"s77", 32}.
using Symbols = std::map<std::string, std::int64_t>;

// The size with the symbols put in. Error on a symbol without a value, on a
// form that temper does not know, on overflow, and below zero.
std::int64_t evaluate(const Size& size, const Symbols& symbols);
// The symbols of the expression, in the order they appear.
std::vector<std::string> symbols_of(const Size& size);

// scale * symbol + offset, as torch.export would write it; `example` is the
// symbol's, not the result's. With a scale of 0 the size is fixed.
Size linear_size(
    const std::string& symbol,
    std::int64_t example,
    std::int64_t scale,
    std::int64_t offset);

// "3", "batch*49": for tables. A symbol reads as its name.
std::string size_text(const Size& size);

} // namespace temper::graph
