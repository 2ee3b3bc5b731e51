// Where a run came from, for its journal.
#pragma once

#include <string>
#include <vector>

namespace temper::session {

// The origin of a run: who started it, where and from which commit, as a JSON
// object. Values that follow a flag which may hold a secret are left out.
std::string origin_json(
    const std::vector<std::string>& arguments,
    const std::string& program = "temper");

} // namespace temper::session
