// Mean, deviation and range of numbers as they come, without keeping them
// (Welford's recurrence).
// Private to data/open.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace temper::data {

class Moments {
 public:
  // Numbers are told as their difference from `centre`.
  explicit Moments(double centre = 0) : centre_(centre) {}

  void add(double number) {
    ++count_;
    const double before = number - mean_;
    mean_ += before / static_cast<double>(count_);
    squares_ += before * (number - mean_);
    low_ = std::min(low_, number);
    high_ = std::max(high_, number);
  }
  std::int64_t count() const {
    return count_;
  }
  double mean() const { // 0 of no numbers
    return count_ > 0 ? centre_ + mean_ : 0;
  }
  double deviation() const { // of all, not of a sample
    return count_ > 0 ? std::sqrt(squares_ / static_cast<double>(count_)) : 0;
  }
  // The divisor of a scale: numbers that are all the same are divided by 1,
  // also when rounding makes them differ.
  double scale() const {
    constexpr double kRounding = 1e-7;
    const double found = deviation();
    return found > kRounding * std::abs(mean_) && found > 0 ? found : 1;
  }
  double low() const {
    return count_ > 0 ? centre_ + low_ : 0;
  }
  double high() const {
    return count_ > 0 ? centre_ + high_ : 0;
  }

 private:
  double centre_;
  std::int64_t count_ = 0;
  double mean_ = 0;
  double squares_ = 0;
  double low_ = std::numeric_limits<double>::infinity();
  double high_ = -std::numeric_limits<double>::infinity();
};

} // namespace temper::data
