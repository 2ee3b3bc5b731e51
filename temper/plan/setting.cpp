#include "temper/plan/setting.h"

#include <limits>
#include <tuple>
#include <vector>

#include "temper/base/text.h"

namespace temper::plan {

std::string to_text(const Setting& setting) {
  return cat(
      setting.device,
      ", ",
      setting.layout,
      ", ",
      plural(setting.threads, "thread"),
      ", ",
      setting.precision);
}

std::optional<Setting> setting_from_text(const std::string& text) {
  std::vector<std::string> parts;
  for (const std::string& part : split(text, ','))
    parts.emplace_back(trim(part));
  if (parts.size() != 4) return std::nullopt;
  const auto threads = parse_int(parts[2].substr(0, parts[2].find(' ')));
  if (!threads || *threads < 1 || *threads > std::numeric_limits<int>::max())
    return std::nullopt;
  const Setting made{parts[0], parts[1], static_cast<int>(*threads), parts[3]};
  return to_text(made) == text ? std::optional(made) : std::nullopt;
}

bool is_reference(const Setting& setting) {
  return setting.device == "cpu" && setting.layout == "contiguous" &&
      setting.precision == "fp32";
}

bool simpler(const Setting& a, const Setting& b) {
  const auto rank = [](const Setting& s) {
    return std::tuple(
        s.precision != "fp32",
        s.device != "cpu",
        s.layout != "contiguous",
        s.threads,
        s.device,
        s.precision,
        s.layout);
  };
  return rank(a) < rank(b);
}

} // namespace temper::plan
