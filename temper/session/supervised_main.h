// A C++ program under a parent of its own, as `temper train` is: when the
// process that trains is killed, crashes or hangs, it is started again from its
// last checkpoint.
//
//   int main(int argc, char** argv) {
//     return session::supervised_main(argc, argv, [&] {
//       return session::train(my_request(argc, argv)).exit_code;
//     });
//   }
#pragma once

#include <functional>

namespace temper::session {

// Starts this program again, with the same words, as a trainer: there,
// `trainer` is called, and session::train goes on with the run that a trainer
// before it has left. The first process only waits, tells the trackers and
// returns the trainer's exit code, or 128 and the number of the signal that
// ended it. Without a parent (TEMPER_SUPERVISE=0, a debugger) `trainer` is
// called at once.
//
// Call it first in main(): what comes before it happens in both processes. One
// run a program.
int supervised_main(
    int argc,
    const char* const* argv,
    const std::function<int()>& trainer);

} // namespace temper::session
