// The threads of this process, as each system lists and signals them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace temper::machine {

using ThreadId = std::uint64_t;

std::vector<ThreadId> list_threads();
// Safe in a signal handler.
ThreadId this_thread();
// Sends a thread a signal; false when it is gone.
bool signal_thread(ThreadId thread, int signal);
// A thread for a person: its number, its name and what it waits for, where
// known.
std::string name_thread(ThreadId thread);
// Seconds since its start in which it was ready to run and no processor was
// free; no value where the system does not tell.
std::optional<double> waited_for_processor_s(ThreadId thread);

} // namespace temper::machine
