// How often a trainer that keeps dying is started again, and after how long.
// No clock, no process.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace temper::supervise {

class Patience {
 public:
  static constexpr int kSameStep = 3; // deaths in a row
  static constexpr int kNoProgress = 10; // deaths in a row

  // A trainer died in this update; `saved`: it had made a checkpoint. The
  // result is the seconds to wait before it is started again; no value: it is
  // not.
  std::optional<double> after(std::int64_t update, bool saved);
  // The reason why it is not, as the end of "it is not started again: ".
  std::string verdict() const;

 private:
  std::int64_t update_ = -2;
  int same_ = 0;
  int in_vain_ = 0; // without a checkpoint between them
};

} // namespace temper::supervise
