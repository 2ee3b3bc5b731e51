// Files that comments and pages for readers speak of: a file that was moved or
// renamed takes them with it.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "source_rules.h"

namespace temper::rules {

// One line for each .h or .cpp that the text names and `tree` (paths below the
// root) does not have: of a source its comments are read, of a page everything.
// "loop/saver.h" is a file whose path ends so.
std::vector<std::string> files_that_are_gone(
    const SourceFile& text,
    const std::set<std::string>& tree);

} // namespace temper::rules
