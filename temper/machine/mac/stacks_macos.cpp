#include <mach/mach.h>
#include <pthread.h>
#include <signal.h>

#include <array>
#include <cstdint>

#include "temper/base/text.h"
#include "temper/machine/stacks_system.h"

// A thread is known by its pthread_t: that is what a handler can ask for
// safely, and what can be signalled.

namespace temper::machine {
namespace {

pthread_t handle(ThreadId thread) {
  return reinterpret_cast<pthread_t>(static_cast<std::uintptr_t>(thread));
}

ThreadId id_of(pthread_t thread) {
  return static_cast<ThreadId>(reinterpret_cast<std::uintptr_t>(thread));
}

} // namespace

std::vector<ThreadId> list_threads() {
  std::vector<ThreadId> threads;
  thread_act_array_t ports = nullptr;
  mach_msg_type_number_t count = 0;
  if (task_threads(mach_task_self(), &ports, &count) != KERN_SUCCESS)
    return threads;
  for (mach_msg_type_number_t i = 0; i < count; ++i) {
    // Null for a thread that the kernel or a library made without pthreads.
    if (pthread_t thread = pthread_from_mach_thread_np(ports[i]))
      threads.push_back(id_of(thread));
    mach_port_deallocate(mach_task_self(), ports[i]);
  }
  vm_deallocate(
      mach_task_self(),
      reinterpret_cast<vm_address_t>(ports),
      count * sizeof(*ports));
  return threads;
}

ThreadId this_thread() {
  return id_of(pthread_self());
}

bool signal_thread(ThreadId thread, int signal) {
  return pthread_kill(handle(thread), signal) == 0;
}

std::string name_thread(ThreadId thread) {
  std::array<char, 64> name{};
  std::uint64_t number = 0;
  pthread_threadid_np(handle(thread), &number);
  pthread_getname_np(handle(thread), name.data(), name.size());
  return std::string(trim(cat(number, " ", name.data())));
}

std::optional<double> waited_for_processor_s(ThreadId) {
  return std::nullopt;
}

} // namespace temper::machine
