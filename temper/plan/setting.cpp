#include "temper/plan/setting.h"

#include <tuple>

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
