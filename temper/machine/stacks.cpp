#include "temper/machine/stacks.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <signal.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <thread>

#include "temper/base/text.h"
#include "temper/machine/stacks_system.h"

namespace temper::machine {
namespace {

constexpr int kSignal = SIGURG;
constexpr int kMostFrames = 96;
constexpr int kOwnFrames = 2; // the handler and the way into it
constexpr std::chrono::seconds kPatience{1};

// The page that the handler writes. A thread that answers late finds another
// asked for and leaves it alone.
std::atomic<ThreadId> asked{0};
std::atomic<int> answered{-1};
std::array<void*, kMostFrames> frames;

void note_stack(int) {
  const int before = errno;
  if (this_thread() == asked.load(std::memory_order_acquire))
    answered.store(
        ::backtrace(frames.data(), kMostFrames), std::memory_order_release);
  errno = before;
}

// While it lives, the signal asks for a stack.
class Asking {
 public:
  Asking() {
    // The first call loads the unwinder, which a handler must not.
    std::array<void*, 1> none{};
    ::backtrace(none.data(), 1);
    struct sigaction action {};
    action.sa_handler = note_stack;
    action.sa_flags = SA_RESTART;
    ::sigaction(kSignal, &action, &before_);
  }
  ~Asking() {
    asked = 0;
    ::sigaction(kSignal, &before_, nullptr);
  }
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;

  // Frames noted; nothing when it does not answer.
  static int stack_of(ThreadId thread) {
    answered = -1;
    asked.store(thread, std::memory_order_release);
    if (!signal_thread(thread, kSignal)) return 0;
    const auto until = std::chrono::steady_clock::now() + kPatience;
    while (answered.load(std::memory_order_acquire) < 0 &&
           std::chrono::steady_clock::now() < until)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const int count = answered.load(std::memory_order_acquire);
    asked = 0;
    return count < 0 ? 0 : count;
  }

 private:
  struct sigaction before_ {};
};

std::string readable(const char* symbol) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> plain(
      abi::__cxa_demangle(symbol, nullptr, nullptr, &status), std::free);
  return status == 0 && plain ? plain.get() : symbol;
}

std::string name_frame(void* address) {
  Dl_info found{};
  if (::dladdr(address, &found) == 0 || found.dli_fname == nullptr)
    return cat(address);
  const std::string file =
      std::filesystem::path(found.dli_fname).filename().string();
  const auto offset = [&](void* from) {
    return static_cast<char*>(address) - static_cast<char*>(from);
  };
  std::ostringstream text;
  if (found.dli_sname == nullptr)
    text << file << " +0x" << std::hex << offset(found.dli_fbase);
  else
    text << readable(found.dli_sname) << " +0x" << std::hex
         << offset(found.dli_saddr) << " (" << file << ")";
  return text.str();
}

} // namespace

std::vector<ThreadStack> all_stacks() {
  const Asking asking;
  std::vector<ThreadStack> stacks;
  for (const ThreadId thread : list_threads()) {
    ThreadStack stack;
    stack.name = name_thread(thread);
    if (thread == this_thread()) {
      stack.frames.emplace_back("(asks for these stacks)");
    } else {
      const int count = Asking::stack_of(thread);
      for (int i = kOwnFrames; i < count; ++i)
        stack.frames.push_back(name_frame(frames[static_cast<std::size_t>(i)]));
    }
    stacks.push_back(std::move(stack));
  }
  return stacks;
}

std::string to_text(const std::vector<ThreadStack>& stacks) {
  std::string text;
  for (const ThreadStack& stack : stacks) {
    text += cat("thread ", stack.name, "\n");
    if (stack.frames.empty()) text += "  does not answer\n";
    for (const std::string& frame : stack.frames)
      text += cat("  ", frame, "\n");
    text += "\n";
  }
  return text;
}

} // namespace temper::machine
