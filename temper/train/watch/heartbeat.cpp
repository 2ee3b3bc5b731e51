#include "temper/train/watch/heartbeat.h"

namespace temper::train {

const char* to_string(Phase phase) {
  switch (phase) {
    case Phase::resting:
      return "resting";
    case Phase::data_wait:
      return "waiting for data";
    case Phase::transfer:
      return "moving a batch to the device";
    case Phase::forward:
      return "computing the forward pass";
    case Phase::backward:
      return "computing the backward pass";
    case Phase::optimizer:
      return "updating the weights";
    case Phase::checkpoint:
      return "saving a checkpoint";
    case Phase::tracker:
      return "telling a tracker";
    case Phase::validating:
      return "validating";
    case Phase::telling:
      return "writing to the terminal";
    case Phase::other:
      return "between two steps";
  }
  return "unknown";
}

} // namespace temper::train
