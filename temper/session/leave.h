// The way out when nothing can be unwound: a thread hangs, and with it whatever
// waits for it.
#pragma once

namespace temper::session {

// Ends the process without destructors. What was printed is printed, what was
// written is written.
[[noreturn]] void leave_at_once(int code);

} // namespace temper::session
