#include "temper/graph/ir/size.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "temper/base/error.h"
#include "temper/base/text.h"

// Expressions are calls: Symbol('s77', positive=True, integer=True),
// Integer(49), Add(a, b, ...), Mul(a, b, ...), FloorDiv(a, b), ... One parser
// walks them; what it does with a symbol or a call is up to its visitor.

namespace temper::graph {
namespace {

constexpr int kDeepest = 64;

[[noreturn]] void refuse_size(const std::string& text, const std::string& why) {
  throw Error(
      cat("[graph] cannot work out the size ", text.substr(0, 120), ": ", why),
      "Export the model with a dynamic batch only: "
      "dynamic_shapes=({0: torch.export.Dim(\"batch\", min=2)},).");
}

std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  const std::int64_t quotient = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? quotient - 1 : quotient;
}

class Evaluation {
 public:
  Evaluation(const std::string& text, const Symbols* symbols)
      : text_(text), symbols_(symbols) {}

  std::int64_t value() {
    const std::int64_t result = term(0);
    skip_spaces();
    if (at_ != text_.size()) refuse_size(text_, "text after its end.");
    return result;
  }

  std::vector<std::string> found;

 private:
  std::int64_t term(int depth) {
    if (depth > kDeepest) refuse_size(text_, "it is nested too deeply.");
    skip_spaces();
    if (at_ < text_.size() && (text_[at_] == '-' || is_digit(text_[at_])))
      return number();
    const std::string name = word();
    expect('(');
    if (name == "Symbol") return symbol();
    if (name == "Integer") {
      const std::int64_t result = number();
      expect(')');
      return result;
    }
    return call(name, depth);
  }

  std::int64_t call(const std::string& name, int depth) {
    std::vector<std::int64_t> arguments{term(depth + 1)};
    while (!accept(')')) {
      expect(',');
      arguments.push_back(term(depth + 1));
    }
    std::int64_t result = arguments[0];
    for (std::size_t i = 1; i < arguments.size(); ++i)
      result = combine(name, result, arguments[i]);
    if (arguments.size() == 1 && name != "Add" && name != "Mul")
      refuse_size(text_, cat("temper does not know ", name, " of one number."));
    return result;
  }

  std::int64_t
  combine(const std::string& name, std::int64_t a, std::int64_t b) {
    // Without values for the symbols only their names are wanted.
    if (symbols_ == nullptr) return 1;
    std::int64_t result = 0;
    if (name == "Add") {
      if (__builtin_add_overflow(a, b, &result)) overflow();
    } else if (name == "Mul") {
      if (__builtin_mul_overflow(a, b, &result)) overflow();
    } else if (name == "Max") {
      result = std::max(a, b);
    } else if (name == "Min") {
      result = std::min(a, b);
    } else if (name == "Pow") {
      result = power(a, b);
    } else if (
        name == "FloorDiv" || name == "CleanDiv" || name == "IntTrueDiv") {
      divisor(b);
      result = floor_div(a, b);
    } else if (name == "CeilDiv") {
      divisor(b);
      result = floor_div(a, b) + (a % b != 0 ? 1 : 0);
    } else if (name == "Mod" || name == "PythonMod") {
      divisor(b);
      result = a % b < 0 ? a % b + b : a % b;
    } else {
      refuse_size(text_, cat("temper does not know ", name, "."));
    }
    return result;
  }

  std::int64_t power(std::int64_t base, std::int64_t exponent) {
    if (exponent < 0 || exponent > 62)
      refuse_size(text_, "the power is no size.");
    std::int64_t result = 1;
    for (; exponent > 0; --exponent)
      if (__builtin_mul_overflow(result, base, &result)) overflow();
    return result;
  }

  void divisor(std::int64_t b) {
    if (b <= 0) refuse_size(text_, "it divides by zero or less.");
  }

  [[noreturn]] void overflow() {
    refuse_size(text_, "it is larger than any memory.");
  }

  // 's77', positive=True, integer=True) — only the name matters.
  std::int64_t symbol() {
    skip_spaces();
    if (at_ >= text_.size() || (text_[at_] != '\'' && text_[at_] != '"'))
      refuse_size(text_, "a symbol without a name.");
    const char quote = text_[at_++];
    const auto end = text_.find(quote, at_);
    const auto close = text_.find(')', end == std::string::npos ? at_ : end);
    if (end == std::string::npos || close == std::string::npos)
      refuse_size(text_, "a symbol without an end.");
    const std::string name = text_.substr(at_, end - at_);
    at_ = close + 1;
    found.push_back(name);
    if (symbols_ == nullptr) return 1;
    const auto known = symbols_->find(name);
    if (known == symbols_->end())
      refuse_size(text_, cat("the symbol ", name, " has no value."));
    return known->second;
  }

  std::int64_t number() {
    skip_spaces();
    const std::size_t begin = at_;
    if (at_ < text_.size() && text_[at_] == '-') ++at_;
    while (at_ < text_.size() && is_digit(text_[at_]))
      ++at_;
    const auto parsed =
        parse_int(std::string_view(text_).substr(begin, at_ - begin));
    if (!parsed) refuse_size(text_, "a number that cannot be read.");
    return *parsed;
  }

  std::string word() {
    const std::size_t begin = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) ||
            text_[at_] == '_' || text_[at_] == '.'))
      ++at_;
    if (at_ == begin) refuse_size(text_, "it cannot be read.");
    // torch.utils._sympy.functions.FloorDiv is FloorDiv.
    const std::string whole = text_.substr(begin, at_ - begin);
    const auto dot = whole.rfind('.');
    return dot == std::string::npos ? whole : whole.substr(dot + 1);
  }

  bool accept(char wanted) {
    skip_spaces();
    if (at_ >= text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }
  void expect(char wanted) {
    if (!accept(wanted)) refuse_size(text_, cat("a ", wanted, " is missing."));
  }
  void skip_spaces() {
    while (at_ < text_.size() && text_[at_] == ' ')
      ++at_;
  }
  static bool is_digit(char c) {
    return c >= '0' && c <= '9';
  }

  const std::string& text_;
  const Symbols* symbols_;
  std::size_t at_ = 0;
};

} // namespace

std::int64_t evaluate(const Size& size, const Symbols& symbols) {
  const std::int64_t value =
      size.fixed() ? size.value : Evaluation(size.expression, &symbols).value();
  if (value < 0)
    throw Error(cat("[graph] a size of ", value, ": sizes are not negative."));
  return value;
}

std::vector<std::string> symbols_of(const Size& size) {
  if (size.fixed()) return {};
  Evaluation walk(size.expression, nullptr);
  walk.value();
  return walk.found;
}

Size linear_size(
    const std::string& symbol,
    std::int64_t example,
    std::int64_t scale,
    std::int64_t offset) {
  if (scale == 0) return offset;
  std::string text = cat("Symbol('", symbol, "', positive=True, integer=True)");
  if (scale != 1) text = cat("Mul(Integer(", scale, "), ", text, ")");
  if (offset != 0) text = cat("Add(", text, ", Integer(", offset, "))");
  return {scale * example + offset, text};
}

} // namespace temper::graph
