#include "temper/checkpoint/retention.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace temper::checkpoint {

std::vector<std::int64_t> to_remove(
    const std::vector<Candidate>& all,
    Retention keep,
    std::optional<std::int64_t> best) {
  std::set<std::int64_t> stay;
  if (best) stay.insert(*best);

  std::vector<Candidate> judged;
  for (const Candidate& each : all)
    if (each.good && each.score && std::isfinite(*each.score))
      judged.push_back(each);
  // The earlier of two equally good ones counts, as the run itself counts.
  std::stable_sort(
      judged.begin(), judged.end(), [](const auto& one, const auto& other) {
        return *one.score > *other.score;
      });
  for (std::size_t i = 0; i < judged.size(); ++i)
    if (static_cast<int>(i) < keep.best) stay.insert(judged[i].update);

  std::vector<std::int64_t> go;
  int good = 0;
  for (std::size_t i = all.size(); i-- > 0;) {
    if (good < std::max(keep.last, 2))
      good += all[i].good ? 1 : 0;
    else if (stay.count(all[i].update) == 0)
      go.push_back(all[i].update);
  }
  return go;
}

} // namespace temper::checkpoint
