// Decimal numbers from text, the same in every locale. Short ones, which is
// nearly all there are, take a few nanoseconds; the rest go through the
// library. Used where tables of millions of numbers are read.
#pragma once

#include <optional>
#include <string_view>

namespace temper::data {

// The whole text must be a finite number: "-1.5e3", ".5", "7.", "+2". Exact to
// the last bit up to 15 digits; with more, once it is rounded to float.
std::optional<double> parse_decimal(std::string_view text);

} // namespace temper::data
