#include "temper/plot/axis.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "temper/base/error.h"

namespace temper::plot {
namespace {

// Large and small numbers with an exponent, the others with `decimals`.
std::string number_text(double value, int decimals) {
  std::array<char, 64> text{};
  const double size = std::abs(value);
  if (size != 0 && (size >= 1e6 || size < 1e-4))
    std::snprintf(text.data(), text.size(), "%.3g", value);
  else
    std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
  return text.data();
}

double round_step(double rough) {
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= rough * 0.999) return factor * power;
  return 10 * power;
}

} // namespace

std::vector<Tick> ticks(double low, double high, int wanted, double least) {
  check(
      std::isfinite(low) && std::isfinite(high) && low < high,
      "an axis goes from a number to a larger one");
  const double step =
      round_step(std::max((high - low) / std::max(wanted, 1), least));
  const int decimals =
      std::clamp(static_cast<int>(-std::floor(std::log10(step) + 1e-9)), 0, 12);
  std::vector<Tick> all;
  const double first = std::ceil(low / step - 1e-9);
  const double last = std::floor(high / step + 1e-9);
  for (double n = first; n <= last && all.size() < 64; ++n) {
    const double value = n == 0 ? 0 : n * step;
    all.push_back({value, number_text(value, decimals)});
  }
  return all;
}

std::vector<Tick> log_ticks(double low, double high) {
  check(0 < low && low < high, "a logarithmic axis is above zero");
  const double decades = std::log10(high) - std::log10(low);
  const int stride = std::max(1, static_cast<int>(std::ceil(decades / 6)));
  std::vector<Tick> all;
  const auto first = static_cast<int>(std::floor(std::log10(low)));
  const auto last = static_cast<int>(std::ceil(std::log10(high)));
  for (int power = first; power <= last; power += stride)
    for (const double factor : {1.0, 2.0, 5.0}) {
      if (factor != 1 && decades > 2) continue;
      const double value = factor * std::pow(10.0, power);
      if (value < low * 0.999 || value > high * 1.001) continue;
      std::array<char, 64> text{};
      std::snprintf(text.data(), text.size(), "%g", value);
      all.push_back({value, text.data()});
    }
  return all;
}

} // namespace temper::plot
