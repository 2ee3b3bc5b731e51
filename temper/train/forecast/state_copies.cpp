#include "temper/train/forecast/state_copies.h"

#include "temper/config/choices.h"

namespace temper::train {

std::size_t good_states(const config::Guard& options) {
  return config::nan_policy_of(options) == config::NanPolicy::stop
      ? 0
      : static_cast<std::size_t>(options.rollback);
}

StateCopies copies_of_state(
    const config::Config& config,
    const EngineFacts& facts,
    std::uint64_t room_bytes) {
  StateCopies made;
  made.good_states = good_states(config.guard);
  const auto all = [&] {
    return facts.state_bytes * (made.good_states + made.checkpoints);
  };
  const std::uint64_t step = facts.state_bytes +
      sizeof(float) * static_cast<std::uint64_t>(facts.trainable);
  const auto too_much = [&] {
    return room_bytes > 0 && step + all() > room_bytes;
  };
  while (too_much() && made.good_states > 0)
    --made.good_states;
  if (too_much()) made.checkpoints = 1;
  made.bytes = all();
  return made;
}

} // namespace temper::train
