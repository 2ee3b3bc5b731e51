// Changes an input the way files get damaged and attackers write them. A pure
// function of the generator's state.
#pragma once

#include <random>
#include <string>
#include <vector>

namespace temper::fuzz {

std::string mutate(const std::vector<std::string>& seeds, std::mt19937& random);

} // namespace temper::fuzz
