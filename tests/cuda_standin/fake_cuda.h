// A machine with CUDA cards that are not there: what was asked of them.
#pragma once

#include <cstdint>
#include <vector>

namespace temper::fake_cuda {

struct Card {
  std::uint64_t bytes = 0;
  double fraction = 1; // of them that LibTorch may take
  std::int64_t live = 0;
  std::int64_t peak = 0;
  std::int64_t reserved = 0;
};

struct System {
  std::vector<Card> cards;
  int current = 0;
  int starts = 0; // of CUDA by LibTorch
};

System& system();

} // namespace temper::fake_cuda
