// LibTorch's CPU allocator, rigged: the n-th allocation from now on fails, once
// or with all that follow. For the tests of what a step leaves behind.
#pragma once

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/util/Exception.h>

#include <atomic>
#include <cstdint>
#include <cstring>

namespace temper::tests {

// LibTorch has declared this interface in two ways (allocate() lost its const,
// copy_data() was added): nothing is marked override, so that one class serves
// both.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsuggest-override"
class FailingAllocator final : public c10::Allocator {
 public:
  FailingAllocator() {
    c10::SetCPUAllocator(this, 100);
  }
  ~FailingAllocator() {
    c10::SetCPUAllocator(c10::GetDefaultCPUAllocator(), 100);
  }

  void fail(std::int64_t nth, bool from_then_on = false) {
    count = 0;
    nth_ = nth;
    from_then_on_ = from_then_on;
  }
  void fail_no_more() {
    nth_ = 0;
  }
  std::atomic<std::int64_t> count{0};

  c10::DataPtr allocate(std::size_t bytes) const {
    return const_cast<FailingAllocator*>(this)->take(bytes);
  }
  c10::DataPtr allocate(std::size_t bytes) {
    return take(bytes);
  }
  c10::DeleterFnPtr raw_deleter() const {
    return c10::GetDefaultCPUAllocator()->raw_deleter();
  }
  void copy_data(void* to, const void* from, std::size_t bytes) const {
    std::memcpy(to, from, bytes);
  }

 private:
  c10::DataPtr take(std::size_t bytes) {
    const std::int64_t now = ++count;
    const bool fails = nth_ > 0 && (from_then_on_ ? now >= nth_ : now == nth_);
    TORCH_CHECK(
        !fails,
        "DefaultCPUAllocator: can't allocate memory: you tried to allocate ",
        bytes,
        " bytes. Error code 12 (Cannot allocate memory)");
    return c10::GetDefaultCPUAllocator()->allocate(bytes);
  }

  std::atomic<std::int64_t> nth_{0};
  std::atomic<bool> from_then_on_{false};
};
#pragma GCC diagnostic pop

} // namespace temper::tests
