// A made-up power management behind the stand-in declarations: which
// assertions are held.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace temper::fake {

struct Assertion {
  std::string type;
  std::string name;
  std::uint32_t level = 0;
};

std::vector<Assertion> live_assertions();
void refuse_assertions(bool refuse);

} // namespace temper::fake
