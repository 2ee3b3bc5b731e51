#include "temper/track/tracker.h"

#include <chrono>

#include "temper/base/text.h"

namespace temper::track {

const char* to_string(Status status) {
  switch (status) {
    case Status::running:
      return "RUNNING";
    case Status::finished:
      return "FINISHED";
    case Status::failed:
      return "FAILED";
    case Status::killed:
      return "KILLED";
  }
  throw Bug("a status outside the table");
}

void refuse_to_write(
    const std::filesystem::path& file,
    const std::string& why) {
  throw Unavailable(
      cat("[track] cannot write ", file.string(), ": ", why, "."),
      "Make room, or look at the folder's rights.");
}

std::vector<Histogram::Bucket> equal_buckets(
    double low,
    double high,
    const std::vector<std::int64_t>& counts) {
  const double width = (high - low) / static_cast<double>(counts.size());
  std::vector<Histogram::Bucket> made;
  for (std::size_t i = 0; i < counts.size(); ++i)
    made.push_back(
        {low + width * static_cast<double>(i),
         i + 1 == counts.size() ? high
                                : low + width * static_cast<double>(i + 1),
         static_cast<double>(counts[i])});
  return made;
}

std::int64_t now_ms() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(system_clock::now().time_since_epoch())
      .count();
}

void require_run(Tracker& tracker, const std::string& parent) {
  if (tracker.has_run(parent)) return;
  throw Error(
      cat("[track] there is no run ",
          parent,
          " in ",
          tracker.where(),
          ", and track.parent says that it is the parent."),
      "Name a run that is tracked there, or leave it out.");
}

} // namespace temper::track
