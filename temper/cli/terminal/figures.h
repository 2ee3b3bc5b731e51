// Numbers as people read them in tables and on the live line: a loss, a part
// of a hundred, a learning rate.
#pragma once

#include <string>

namespace temper::cli {

// Four decimals, or four significant digits where those would be too many or
// too few: "0.4321", "123.5", "1.178e+10", "4.3e-05". NaN is "-".
std::string figure_text(double value);
// 0.8512 with two digits as "85.12 %". NaN is "-".
// 0.001 as "0.001", 0.00012345 as "0.000123".
std::string rate_text(double rate);

} // namespace temper::cli
