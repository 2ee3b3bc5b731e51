#include "temper/kernels/simd/threads.h"

#include <chrono>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "temper/kernels/simd/helper_places.h"

namespace temper::kernels {
namespace {

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Looks until `found` says so, for about that long; whether it did.
template <class Found>
bool spin(std::chrono::microseconds patience, const Found& found) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + patience;
  do {
    for (int i = 0; i < 32; ++i) {
      if (found()) return true;
      relax();
    }
  } while (Clock::now() < end);
  return found();
}

// A thread without work looks for some that long before it sleeps: kernels of
// one step follow each other within that time. Waking a sleeping thread takes
// about as long.
constexpr std::chrono::microseconds kBeforeSleep{60};
constexpr std::chrono::microseconds kBeforeYield{20};

// The present call in one word: how many more helpers may join, and how many
// are inside. Both change at once, so that nobody joins a call that is over.
constexpr std::uint64_t kInside = 1;
constexpr std::uint64_t kInsideMask = 0xffffffff;
constexpr std::uint64_t kSeat = std::uint64_t{1} << 32;

thread_local bool is_inside = false;

class Pool {
 public:
  void run(int threads, void (*body)(void*), void* context) {
    if (under_way_.test_and_set(std::memory_order_acquire)) {
      body(context);
      return;
    }
    start_helpers(threads - 1);
    places_.leave_core_to_caller();
    body_ = body;
    context_ = context;
    state_.store(
        static_cast<std::uint64_t>(threads - 1) * kSeat,
        std::memory_order_release);
    calls_.fetch_add(1, std::memory_order_release);
    calls_.notify_all();
    run_body();
    state_.fetch_and(kInsideMask, std::memory_order_relaxed); // no more seats
    const auto alone = [&] {
      return (state_.load(std::memory_order_acquire) & kInsideMask) == 0;
    };
    if (!spin(kBeforeYield, alone))
      while (!alone())
        std::this_thread::yield();
    const std::exception_ptr failure = std::exchange(failure_, nullptr);
    under_way_.clear(std::memory_order_release);
    if (failure != nullptr) std::rethrow_exception(failure);
  }

 private:
  void start_helpers(int wanted) {
    for (; helpers_ < wanted; ++helpers_)
      try {
        std::thread helper([this] { help(); });
        places_.add(helper);
        helper.detach();
      } catch (const std::system_error&) {
        return; // the system has no more threads: the others do the work
      }
  }

  [[noreturn]] void help() {
    std::uint32_t seen = 0;
    for (;;) {
      const auto called = [&] {
        return calls_.load(std::memory_order_acquire) != seen;
      };
      while (!spin(kBeforeSleep, called))
        calls_.wait(seen, std::memory_order_acquire);
      seen = calls_.load(std::memory_order_acquire);
      std::uint64_t state = state_.load(std::memory_order_acquire);
      while (state >= kSeat)
        if (state_.compare_exchange_weak(
                state, state - kSeat + kInside, std::memory_order_acq_rel)) {
          run_body();
          state_.fetch_sub(kInside, std::memory_order_release);
          break;
        }
    }
  }

  void run_body() {
    is_inside = true;
    try {
      body_(context_);
    } catch (...) {
      const std::lock_guard lock(failing_);
      if (failure_ == nullptr) failure_ = std::current_exception();
    }
    is_inside = false;
  }

  std::atomic_flag under_way_;
  std::atomic<std::uint32_t> calls_{0};
  std::atomic<std::uint64_t> state_{0};
  void (*body_)(void*) = nullptr;
  void* context_ = nullptr;
  int helpers_ = 0;
  HelperPlaces places_;
  std::mutex failing_;
  std::exception_ptr failure_;
};

// Never destroyed: helpers wait in it when the process ends. In a forked child
// there are none, and calls have the calling thread.
Pool& pool() {
  static Pool& one = *new Pool;
  return one;
}

std::atomic<int (*)()>& count_in_use() {
  static std::atomic<int (*)()> count{nullptr};
  return count;
}

} // namespace

void set_thread_count(int (*count)()) {
  count_in_use().store(count);
}

int thread_count() {
  int (*count)() = count_in_use().load(std::memory_order_relaxed);
  return count == nullptr ? 1 : count();
}

bool inside_chunk() {
  return is_inside;
}

void run_on_threads(int threads, void (*body)(void* context), void* context) {
  if (threads <= 1)
    body(context);
  else
    pool().run(threads, body, context);
}

} // namespace temper::kernels
