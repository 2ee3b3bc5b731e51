// Did you mean ...? The known word closest to a misspelt one.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace temper {

// The number of insertions, deletions, substitutions and swaps of neighbours
// that turn one word into the other.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The known word nearest to `word`; no value when none is close enough to be a
// plausible slip.
std::optional<std::string> nearest(
    std::string_view word,
    const std::vector<std::string>& known);

} // namespace temper
