#include "temper/journal/run_lock.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <cstring>

#include "temper/base/error.h"
#include "temper/base/file.h"
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

} // namespace

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
  int locked = 0;
  do
    locked = ::flock(file_.get(), LOCK_EX | LOCK_NB);
  while (locked != 0 && errno == EINTR);
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
