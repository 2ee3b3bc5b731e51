#include "temper/data/inspect/duplicates.h"

#include <algorithm>
#include <utility>

namespace temper::data {
namespace {

constexpr std::size_t kNamesInGroup = 4;
// From this many equal rows on average a table has few different ones.
constexpr std::size_t kManyTimes = 5;

// Positions in `seen` of the first of a group and behind its last.
using Group = std::pair<std::size_t, std::size_t>;

std::vector<Group> groups_of(const std::vector<SeenSample>& seen) {
  std::vector<Group> groups;
  for (std::size_t begin = 0; begin < seen.size();) {
    std::size_t end = begin + 1;
    while (end < seen.size() && seen[end].hash == seen[begin].hash)
      ++end;
    groups.emplace_back(begin, end);
    begin = end;
  }
  return groups;
}

} // namespace

void find_duplicates(
    std::vector<SeenSample>& seen,
    const Splits& splits,
    int named,
    DataReport& report) {
  const std::int64_t train_size = splits.train->size();
  std::sort(
      seen.begin(), seen.end(), [](const SeenSample& a, const SeenSample& b) {
        return a.hash != b.hash ? a.hash < b.hash : a.index < b.index;
      });
  std::vector<Group> groups = groups_of(seen);
  report.repetitive = splits.train->info().input == Input::numbers &&
      groups.size() * kManyTimes <= seen.size();
  groups.erase(
      std::remove_if(
          groups.begin(),
          groups.end(),
          [](const Group& group) { return group.second - group.first < 2; }),
      groups.end());
  // In the order of the dataset, not of the hashes.
  std::sort(groups.begin(), groups.end(), [&](const auto& a, const auto& b) {
    return seen[a.first].index < seen[b.first].index;
  });
  for (const auto& [begin, end] : groups) {
    Duplicates group;
    group.count = static_cast<std::int64_t>(end - begin);
    const bool in_train = seen[begin].index < train_size;
    for (std::size_t i = begin; i < end; ++i) {
      const bool val = seen[i].index >= train_size;
      if (in_train && val) {
        ++report.leaked_samples;
        group.across_parts = true;
      }
      group.labels_differ |=
          report.labels && seen[i].label != seen[begin].label;
      if (group.samples.size() == kNamesInGroup) continue;
      group.samples.push_back(
          val ? "val " + splits.val->describe(seen[i].index - train_size)
              : "train " + splits.train->describe(seen[i].index));
    }
    report.duplicate_samples += group.count - 1;
    report.contradictions += group.labels_differ ? group.count : 0;
    if (report.duplicates.size() < static_cast<std::size_t>(named))
      report.duplicates.push_back(std::move(group));
  }
}

} // namespace temper::data
