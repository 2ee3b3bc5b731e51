#include "temper/train/schedule/loss_scale.h"

#include <cmath>

#include "temper/base/error.h"
#include "temper/base/text.h"

namespace temper::train {

void LossScale::update(bool overflowed) {
  if (overflowed) {
    if (scale_ * kBackoff < 1)
      throw Error(
          "[train] the gradients overflow fp16 even unscaled: the loss scale "
          "fell below 1.",
          "Set precision = \"bf16\" or \"fp32\", or lower optimizer.lr.");
    scale_ *= kBackoff;
    good_steps_ = 0;
    return;
  }
  if (++good_steps_ < kInterval) return;
  good_steps_ = 0;
  if (std::isfinite(scale_ * kGrowth)) scale_ *= kGrowth;
}

void LossScale::restore(float scale, std::int32_t good_steps) {
  int exponent = 0;
  const bool power_of_two =
      std::isfinite(scale) && std::frexp(scale, &exponent) == 0.5F;
  if (!power_of_two || scale < 1 || good_steps < 0 || good_steps >= kInterval)
    throw Error(
        cat("[train] a checkpoint's loss scale is ",
            scale,
            " after ",
            good_steps,
            " good steps, which cannot be."),
        "Resume from an older checkpoint.");
  scale_ = scale;
  good_steps_ = good_steps;
}

} // namespace temper::train
