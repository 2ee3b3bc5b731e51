// The one style of tests' names: TEST(Text, NumbersMustBeTheWholeText).
#pragma once

#include <string>
#include <vector>

#include "source_rules.h"

namespace temper::rules {

// The names of tests in the file that are not words with capitals.
std::vector<std::string> odd_test_names(const SourceFile& file);

} // namespace temper::rules
