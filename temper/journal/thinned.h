// A bounded sample of what comes one after the other: all of it while there is
// room, then every second, every fourth, ... evenly from the first on. The
// newest is always there.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace temper::journal {

template <typename T>
class Thinned {
 public:
  explicit Thinned(std::size_t most) : most_(most) {}

  void add(T value) {
    if (seen_++ % stride_ != 0) {
      newest_ = std::move(value);
      return;
    }
    newest_.reset();
    if (kept_.size() == most_) {
      std::size_t to = 0;
      for (std::size_t from = 0; from < kept_.size(); from += 2)
        if (to++ != from) kept_[to - 1] = std::move(kept_[from]);
      kept_.resize(to);
      stride_ *= 2;
      if ((seen_ - 1) % stride_ != 0) {
        newest_ = std::move(value);
        return;
      }
    }
    kept_.push_back(std::move(value));
  }

  std::vector<T> take() {
    if (newest_) kept_.push_back(*std::exchange(newest_, std::nullopt));
    return std::move(kept_);
  }
  std::size_t seen() const {
    return seen_;
  }
  bool all() const {
    return stride_ == 1;
  }

 private:
  std::size_t most_;
  std::size_t seen_ = 0;
  std::size_t stride_ = 1;
  std::vector<T> kept_;
  std::optional<T> newest_; // passed over so far
};

} // namespace temper::journal
