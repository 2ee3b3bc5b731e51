#include "temper/cli/terminal/figures.h"

#include <cmath>
#include <sstream>

#include "temper/base/text.h"

namespace temper::cli {
namespace {

std::string significant(double value, int digits) {
  std::ostringstream out;
  out.precision(digits);
  out << value;
  return out.str();
}

} // namespace

std::string figure_text(double value) {
  if (std::isnan(value)) return "-";
  const double size = std::fabs(value);
  if (!std::isfinite(value)) return value > 0 ? "inf" : "-inf";
  if (size == 0 || (size >= 0.001 && size < 100)) return decimals(value, 4);
  if (size < 0.001) return significant(value, 2);
  if (size >= 1e6) return significant(value, 4);
  return decimals(value, size < 1000 ? 1 : 0);
}

std::string rate_text(double rate) {
  return significant(rate, 3);
}

} // namespace temper::cli
