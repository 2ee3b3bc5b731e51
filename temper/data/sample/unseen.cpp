#include "temper/data/sample/unseen.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "temper/base/text.h"

namespace temper::data {

void Unseen::add(const std::string& name, std::int64_t count) {
  counts_[name] += count;
}

std::int64_t Unseen::total() const {
  std::int64_t all = 0;
  for (const auto& [name, count] : counts_)
    all += count;
  return all;
}

std::string Unseen::text() const {
  constexpr std::size_t kShown = 5;
  std::vector<std::pair<std::string, std::int64_t>> sorted(
      counts_.begin(), counts_.end());
  std::stable_sort(
      sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
        return a.second > b.second;
      });
  std::vector<std::string> shown;
  for (std::size_t i = 0; i < std::min(kShown, sorted.size()); ++i)
    shown.push_back(
        cat(sorted[i].first, " (", count_text(sorted[i].second), ")"));
  std::string text = join(shown, ", ");
  if (sorted.size() > kShown)
    text += cat(" and ", sorted.size() - kShown, " more");
  return text;
}

} // namespace temper::data
