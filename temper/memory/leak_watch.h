// Watches memory over committed steps for growth that does not end, and names
// the suspect. A robust slope (the median of the slopes between all pairs of
// points) is not moved by a spike; points are thinned out as a run gets longer,
// so that the watch itself takes a few kilobytes. Fed by the loop; pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace temper::memory {

struct LeakSample {
  std::int64_t update = 0;
  std::uint64_t process_bytes = 0; // as machine::Sample has its own_bytes
  std::uint64_t tensor_bytes = 0; // live between two steps
  std::uint64_t tensors = 0; // how many of them
  std::uint64_t driver_bytes = 0; // that the device's driver handed out
  std::uint64_t loader_bytes = 0;
};

enum class Suspect { tensors, driver, loader, outside };
const char* to_string(Suspect suspect);

struct Leak {
  Suspect suspect = Suspect::outside;
  double bytes_per_step = 0;
  std::uint64_t grown_bytes = 0; // since the first point
  std::string why; // a sentence, with what to do
  // Set when only a fresh process gives it back: save, and start again from
  // there.
  bool restart = false;
};

struct LeakOptions {
  std::string device = "cpu";
  std::uint64_t budget_bytes = 0; // 0: not known
};

class LeakWatch {
 public:
  explicit LeakWatch(const LeakOptions& options = {});

  // Called after a committed step; a leak is told again when it has doubled.
  std::optional<Leak> see(const LeakSample& now);

  std::size_t points() const {
    return points_.size();
  }

 private:
  std::optional<Leak> judge();

  LeakOptions options_;
  std::vector<LeakSample> points_;
  std::int64_t seen_ = 0;
  std::int64_t every_ = 1; // one sample in so many is kept
  std::uint64_t told_bytes_ = 0;
};

// The median of the slopes between all pairs, and the part of them that is
// above zero.
struct Slope {
  double median = 0;
  double rising = 0;
};
Slope theil_sen(const std::vector<double>& x, const std::vector<double>& y);

} // namespace temper::memory
