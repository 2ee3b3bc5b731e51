// Names that a file keeps to itself, in an anonymous namespace or as a static
// one. Several files of a room are one for the compiler, so no two of them may
// have the same.
#pragma once

#include <string>
#include <vector>

#include "source_rules.h"

namespace temper::rules {

// One line for each name that a file keeps to itself while another file of the
// room does, too, or a header of the room declares it; and for each name that
// hides one of base, which all rooms use without its namespace. An alias may be
// written again in the same words.
std::vector<std::string> names_used_twice(const std::vector<SourceFile>& files);

} // namespace temper::rules
