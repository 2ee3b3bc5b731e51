// The factor that keeps fp16 gradients out of the smallest numbers, as
// PyTorch's GradScaler moves it: float32 arithmetic, constant over the
// micro-batches of a step, one update per step. No torch: the engine scales,
// looks for overflow and asks here what next.
#pragma once

#include <cstdint>

namespace temper::train {

class LossScale {
 public:
  static constexpr float kFirst = 65536;
  static constexpr float kGrowth = 2;
  static constexpr float kBackoff = 0.5;
  static constexpr std::int32_t kInterval = 2000; // good steps before growing

  float scale() const {
    return scale_;
  }
  // Exact: the factors are powers of two.
  float inverse() const {
    return 1 / scale_;
  }

  // Called after a step: did a gradient overflow? Error once the scale falls
  // below 1, where fp16 can no longer hold this network's gradients.
  void update(bool overflowed);

  std::int32_t good_steps() const {
    return good_steps_;
  }
  // Takes the values of a checkpoint. Error for what no run can have had.
  void restore(float scale, std::int32_t good_steps);

 private:
  float scale_ = kFirst;
  std::int32_t good_steps_ = 0;
};

} // namespace temper::train
