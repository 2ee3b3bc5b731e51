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
      to_text(setting.layout),
      ", ",
      plural(setting.threads, "thread"),
      ", ",
      to_text(setting.precision),
      setting.kernels == Kernels::fused ? ", fused" : "");
}

std::optional<Setting> setting_from_text(const std::string& text) {
  std::vector<std::string> parts;
  for (const std::string& part : split(text, ','))
    parts.emplace_back(trim(part));
  if (parts.size() != 4 && parts.size() != 5) return std::nullopt;
  const auto threads = parse_int(parts[2].substr(0, parts[2].find(' ')));
  if (!threads || *threads < 1 || *threads > std::numeric_limits<int>::max())
    return std::nullopt;
  const auto layout = config::layout_from_text(parts[1]);
  const auto precision = config::precision_from_text(parts[3]);
  if (!layout || !precision) return std::nullopt;
  const Setting made{
      parts[0],
      *layout,
      static_cast<int>(*threads),
      *precision,
      parts.size() == 5 ? Kernels::fused : Kernels::stock};
  return to_text(made) == text ? std::optional(made) : std::nullopt;
}

std::string whose(Kernels kernels) {
  return kernels == Kernels::fused ? "temper's own" : "LibTorch's";
}

bool is_reference(const Setting& setting) {
  return setting.on_cpu() && setting.layout == Layout::contiguous &&
      setting.precision == Precision::fp32 && setting.kernels == Kernels::stock;
}

bool simpler(const Setting& a, const Setting& b) {
  const auto rank = [](const Setting& s) {
    return std::tuple(
        s.precision != Precision::fp32,
        !s.on_cpu(),
        s.kernels != Kernels::stock,
        s.layout != Layout::contiguous,
        s.threads,
        s.device,
        s.precision,
        s.layout);
  };
  return rank(a) < rank(b);
}

} // namespace temper::plan
