#include "temper/machine/run_delay.h"

#include <algorithm>
#include <utility>

namespace temper::machine {

ThreadWaits thread_waits() {
  ThreadWaits waits;
  for (const ThreadId thread : list_threads())
    if (const auto waited_s = waited_for_processor_s(thread))
      waits.emplace(thread, *waited_s);
  return waits;
}

RunDelay::RunDelay(std::function<ThreadWaits()> read)
    : read_(std::move(read)), before_(read_()) {}

double RunDelay::since_last_s() {
  ThreadWaits now = read_();
  double longest = 0;
  for (const auto& [thread, waited_s] : now)
    if (const auto known = before_.find(thread); known != before_.end())
      longest = std::max(longest, waited_s - known->second);
  before_ = std::move(now);
  return longest;
}

} // namespace temper::machine
