#include "temper/train/schedule/lr_scale.h"

#include <algorithm>

#include "temper/base/error.h"
#include "temper/base/nearest.h"
#include "temper/base/text.h"
#include "temper/graph/pass/passes.h"

namespace temper::train {
namespace {

constexpr double kMostFactor = 1e6;

} // namespace

std::vector<LrScale> parse_lr_scales(const std::vector<std::string>& texts) {
  std::vector<LrScale> scales;
  for (const std::string& text : texts) {
    const auto equals = text.rfind('=');
    const auto factor = equals == std::string::npos
        ? std::nullopt
        : parse_double(trim(std::string_view(text).substr(equals + 1)));
    if (!factor || !(*factor >= 0 && *factor <= kMostFactor) || equals == 0)
      throw Error(
          cat("[train] optimizer.lr_scale has \"",
              text,
              "\", which is not PATTERN=FACTOR."),
          "Write optimizer.lr_scale = [\"features.*=0.1\"].");
    scales.push_back({std::string(trim(text.substr(0, equals))), *factor});
  }
  return scales;
}

double lr_factor(const std::vector<LrScale>& scales, const std::string& name) {
  double factor = 1;
  for (const LrScale& scale : scales)
    if (graph::matches(scale.pattern, name)) factor = scale.factor;
  return factor;
}

void check_lr_scales(
    const std::vector<LrScale>& scales,
    const std::vector<std::string>& names) {
  for (const LrScale& scale : scales) {
    const bool hit =
        std::any_of(names.begin(), names.end(), [&](const std::string& name) {
          return graph::matches(scale.pattern, name);
        });
    if (hit) continue;
    const auto close = nearest(scale.pattern, names);
    throw Error(
        cat("[train] optimizer.lr_scale names ",
            scale.pattern,
            ", and no parameter is called so."),
        close ? cat("Did you mean ", *close, "?")
              : "temper model show lists the names.");
  }
}

} // namespace temper::train
