#include "temper/base/nearest.h"

#include <algorithm>

#include "temper/base/text.h"

namespace temper {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Three rows of the classic table: swaps look back two rows.
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j)
    last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + change});
      const bool swapped =
          i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

std::optional<std::string> nearest(
    std::string_view word,
    const std::vector<std::string>& known) {
  const std::string wanted = lower(word);
  std::optional<std::string> best;
  std::size_t best_distance = 0;
  for (const auto& candidate : known) {
    const std::size_t distance = edit_distance(wanted, lower(candidate));
    if (best && distance >= best_distance) continue;
    best = candidate;
    best_distance = distance;
  }
  // A third of the letters wrong is a slip; more is another word.
  const std::size_t longest =
      best ? std::max(best->size(), wanted.size()) : std::size_t{0};
  if (!best || best_distance * 3 > longest + 1) return std::nullopt;
  return best;
}

} // namespace temper
