#include "temper/config/values.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "temper/base/nearest.h"
#include "temper/base/text.h"

namespace temper::config {
namespace {

using Problem = std::optional<std::string>;

Problem unexpected(const Field& field) {
  return cat("is not ", expected_text(field));
}

Problem limited(const Field& field, double value) {
  if (std::isnan(value)) return unexpected(field);
  if (field.low == field.high) return std::nullopt;
  if (value < field.low || value > field.high) return unexpected(field);
  return std::nullopt;
}

bool is_auto(const Given& given) {
  if (given.list || given.items.size() != 1) return false;
  const auto* text = std::get_if<std::string>(&given.items[0]);
  return text != nullptr && *text == "auto";
}

// A slot's own way of taking a value; whatever the slot has no word for is
// not what the field expects.
class Taker {
 public:
  Taker(const Field& field, const Given& given)
      : field_(field), given_(given) {}

  Problem operator()(bool* slot) const {
    const auto* value = single<bool>();
    if (value == nullptr) return unexpected(field_);
    *slot = *value;
    return std::nullopt;
  }
  Problem operator()(std::int64_t* slot) const {
    if (given_.list || given_.items.size() != 1) return unexpected(field_);
    return whole(given_.items[0], *slot);
  }
  Problem operator()(double* slot) const {
    if (given_.list || given_.items.size() != 1) return unexpected(field_);
    return real(given_.items[0], *slot);
  }
  Problem operator()(std::string* slot) const {
    const auto* value = single<std::string>();
    if (value == nullptr) return unexpected(field_);
    if (const auto problem = word(*value)) return problem;
    *slot = *value;
    return std::nullopt;
  }
  Problem operator()(AutoCount* slot) const {
    if (is_auto(given_)) {
      *slot = std::nullopt;
      return std::nullopt;
    }
    std::int64_t value = 0;
    if (const auto problem = (*this)(&value)) return problem;
    *slot = value;
    return std::nullopt;
  }
  Problem operator()(AutoBytes* slot) const {
    if (is_auto(given_)) {
      slot->bytes = std::nullopt;
      return std::nullopt;
    }
    std::optional<std::uint64_t> bytes;
    if (const auto* text = single<std::string>()) bytes = parse_bytes(*text);
    if (const auto* number = single<std::int64_t>(); number && *number > 0)
      bytes = static_cast<std::uint64_t>(*number);
    if (!bytes) return unexpected(field_);
    slot->bytes = bytes;
    return std::nullopt;
  }
  Problem operator()(Words* slot) const {
    if (given_.names.size() != given_.items.size()) return unexpected(field_);
    Words taken;
    for (std::size_t i = 0; i < given_.names.size(); ++i) {
      const auto* text = std::get_if<std::string>(&given_.items[i]);
      if (text == nullptr) return unexpected(field_);
      if (const auto problem = word(*text)) return problem;
      taken[given_.names[i]] = *text;
    }
    *slot = std::move(taken);
    return std::nullopt;
  }
  Problem operator()(Names* slot) const {
    std::vector<std::string> taken;
    if (given_.items.empty() || !given_.names.empty())
      return unexpected(field_);
    if (const auto problem = (*this)(&taken)) return problem;
    for (const std::string& name : taken)
      if (const auto problem = word(name)) return problem;
    *slot = Names(std::move(taken));
    return std::nullopt;
  }
  Problem operator()(std::vector<std::string>* slot) const {
    std::vector<std::string> taken;
    for (const Scalar& item : given_.items) {
      const auto* text = std::get_if<std::string>(&item);
      if (text == nullptr) return unexpected(field_);
      taken.push_back(*text);
    }
    *slot = std::move(taken);
    return std::nullopt;
  }
  Problem operator()(std::vector<std::int64_t>* slot) const {
    std::vector<std::int64_t> taken(given_.items.size());
    for (std::size_t i = 0; i < taken.size(); ++i)
      if (const auto problem = whole(given_.items[i], taken[i])) return problem;
    *slot = std::move(taken);
    return std::nullopt;
  }
  Problem operator()(std::vector<double>* slot) const {
    std::vector<double> taken(given_.items.size());
    for (std::size_t i = 0; i < taken.size(); ++i)
      if (const auto problem = real(given_.items[i], taken[i])) return problem;
    *slot = std::move(taken);
    return std::nullopt;
  }

 private:
  Problem word(const std::string& value) const {
    const auto& choices = field_.choices;
    if (choices.empty() ||
        std::find(choices.begin(), choices.end(), value) != choices.end())
      return std::nullopt;
    const auto close = nearest(value, choices);
    return cat(
        *unexpected(field_), close ? cat("; did you mean ", *close, "?") : "");
  }
  template <class T>
  const T* single() const {
    if (given_.list || !given_.names.empty() || given_.items.size() != 1)
      return nullptr;
    return std::get_if<T>(&given_.items[0]);
  }
  Problem whole(const Scalar& item, std::int64_t& slot) const {
    const auto* value = std::get_if<std::int64_t>(&item);
    if (value == nullptr) return unexpected(field_);
    if (const auto problem = limited(field_, static_cast<double>(*value)))
      return problem;
    slot = *value;
    return std::nullopt;
  }
  Problem real(const Scalar& item, double& slot) const {
    double value = 0;
    if (const auto* number = std::get_if<double>(&item))
      value = *number;
    else if (const auto* count = std::get_if<std::int64_t>(&item))
      value = static_cast<double>(*count);
    else
      return unexpected(field_);
    if (const auto problem = limited(field_, value)) return problem;
    slot = value;
    return std::nullopt;
  }

  const Field& field_;
  const Given& given_;
};

} // namespace

std::optional<std::string>
assign(const Field& field, const Given& given, Config& config) {
  return std::visit(Taker(field, given), field.slot(config));
}

std::optional<std::uint64_t> parse_bytes(std::string_view text) {
  struct Unit {
    const char* name;
    double bytes;
  };
  constexpr double kKibi = 1024;
  static constexpr std::array<Unit, 10> kUnits{
      {{"", 1},
       {"b", 1},
       {"kib", kKibi},
       {"mib", kKibi * kKibi},
       {"gib", kKibi * kKibi * kKibi},
       {"tib", kKibi * kKibi * kKibi * kKibi},
       {"kb", 1e3},
       {"mb", 1e6},
       {"gb", 1e9},
       {"tb", 1e12}}};
  const auto letters = text.find_first_not_of("0123456789.");
  const auto number = parse_double(trim(text.substr(0, letters)));
  if (!number) return std::nullopt;
  const std::string unit = letters == std::string_view::npos
      ? ""
      : lower(trim(text.substr(letters)));
  for (const Unit& each : kUnits) {
    if (unit != each.name) continue;
    const double bytes = *number * each.bytes;
    if (!(bytes >= 1 && bytes <= 1e18)) return std::nullopt;
    return static_cast<std::uint64_t>(bytes);
  }
  return std::nullopt;
}

std::string double_text(double value) {
  std::array<char, 40> text{};
  for (const int digits : {6, 15, 17}) {
    std::snprintf(text.data(), text.size(), "%.*g", digits, value);
    if (parse_double(text.data()) == value) break;
  }
  std::string shown = text.data();
  if (shown.find_first_of(".en") == std::string::npos) shown += ".0";
  return shown;
}

} // namespace temper::config
