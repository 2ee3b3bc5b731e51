// Waits for something that another thread or process does. There is no limit of
// its own: what never happens is the test program's time limit to tell.
#pragma once

#include <chrono>
#include <thread>

namespace temper::tests {

template <class Condition>
void wait_until(const Condition& holds) {
  while (!holds())
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

} // namespace temper::tests
