// Copies of a run's state that lie in memory beside it, each as large as the
// state: where memory is short there are fewer of them. No torch.
#pragma once

#include <cstddef>
#include <cstdint>

#include "temper/config/config.h"
#include "temper/train/engine/engine.h"

namespace temper::train {

// How many states the guard would like to be able to go back to.
std::size_t good_states(const config::Guard& options);

// The copies of its state that a run keeps in ordinary memory: the guard's good
// states and what checkpoints are written from. The CPU's allocator does not
// see them.
struct StateCopies {
  std::size_t good_states = 0;
  std::size_t checkpoints = 2; // one is written, the next one waits
  std::uint64_t bytes = 0; // of all of them
};
// Counts as many copies as the config says where there is room for them beside
// the least that a step takes; `room_bytes` 0: nobody knows.
StateCopies copies_of_state(
    const config::Config& config,
    const EngineFacts& facts,
    std::uint64_t room_bytes);

} // namespace temper::train
