// Did you mean ...? The file beside a missing one whose name is closest.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace temper {

// The nearest name in the folder of `missing`, as it would be written, with
// that folder. No value when nothing there has a name like it.
std::optional<std::string> nearest_file(const std::filesystem::path& missing);

} // namespace temper
