// The tree that the rules are held against.
#pragma once

#include <string>
#include <vector>

#include "source_rules.h"

namespace temper::rules {

std::string read_source(const std::string& path); // below the tree's root

// Every .cpp and .h below temper/ or tests/, with its path below that folder.
std::vector<SourceFile> source_tree(const std::string& folder);

} // namespace temper::rules
