#include "temper/journal/run_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "temper/base/error.h"
#include "temper/base/file/file.h"
#include "temper/base/log.h"
#include "temper/base/text.h"

namespace temper::journal {
namespace {

// For those who have no terminal to press Ctrl-C in: its number is enough.
Error taken(const RunDirectory& directory) {
  const auto text = read_small_file(directory.lock());
  const auto pid = parse_int(trim(text.value_or("")));
  return Error(
      cat("[journal] ",
          directory.name(),
          " is being trained already, by ",
          pid ? cat("process ", *pid) : "another process",
          "."),
      cat("Wait until it ends, or stop it and then resume it: ",
          pid ? cat("kill ", *pid, " or ") : "",
          "Ctrl-C in its terminal ends it with a checkpoint."));
}

int lock_at_once(int descriptor, int kind) {
  int locked = 0;
  do
    locked = ::flock(descriptor, kind | LOCK_NB);
  while (locked != 0 && errno == EINTR);
  return locked;
}

} // namespace

bool is_trained_now(const RunDirectory& directory) {
  const Descriptor file(::open(directory.lock().c_str(), O_RDONLY | O_CLOEXEC));
  return file.open() && lock_at_once(file.get(), LOCK_SH) != 0 &&
      errno == EWOULDBLOCK;
}

RunLock::RunLock(const RunDirectory& directory) {
  const std::filesystem::path path = directory.lock();
  file_ = Descriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!file_.open())
    throw Error(
        cat("[journal] cannot write ",
            path.string(),
            ": ",
            std::strerror(errno),
            "."),
        "A run must be able to write its directory.");
  // Somebody who only asks (is_trained_now) has it for a moment.
  constexpr int kTries = 5;
  constexpr useconds_t kPause_us = 10'000;
  int locked = lock_at_once(file_.get(), LOCK_EX);
  for (int i = 1; i < kTries && locked != 0 && errno == EWOULDBLOCK; ++i) {
    ::usleep(kPause_us);
    locked = lock_at_once(file_.get(), LOCK_EX);
  }
  if (locked != 0 && errno == EWOULDBLOCK) throw taken(directory);
  if (locked != 0) {
    // Some network file systems have no locks: then nobody else has it either.
    log::detail(
        cat("[journal] ", path.string(), ": ", std::strerror(errno), "."));
    return;
  }
  // For the message above only: whether it is written decides nothing.
  const std::string pid = cat(::getpid(), "\n");
  if (::ftruncate(file_.get(), 0) != 0 ||
      ::pwrite(file_.get(), pid.data(), pid.size(), 0) < 0)
    log::detail(cat("[journal] ", path.string(), " takes no text."));
}

} // namespace temper::journal
