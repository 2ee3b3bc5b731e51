#include "temper/base/process/spawn.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <mutex>
#include <system_error>
#include <thread>

#include "temper/base/text.h"

extern char** environ;

namespace temper {
namespace {

using std::chrono::milliseconds;

// How long to wait for a killed child to be gone. Only a program that raised
// its privileges, or one stuck in the kernel, can make us wait that long.
constexpr milliseconds kReapTime{2'000};
constexpr milliseconds kReapTick{1};

std::string error_text(int code) {
  return std::generic_category().message(code);
}

// Closed on exec and above the standard streams, also in a program that runs
// with those closed: posix_spawn would dup2 an end onto itself otherwise.
std::optional<Descriptor> private_copy(Descriptor fd) {
  Descriptor copy(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 3));
  if (!copy.open()) return std::nullopt;
  return copy;
}

std::optional<Pipe> make_pipe() {
  std::array<int, 2> ends{-1, -1};
  if (::pipe(ends.data()) != 0) return std::nullopt;
  Descriptor first(ends[0]);
  Descriptor second(ends[1]);
  auto read = private_copy(std::move(first));
  auto write = private_copy(std::move(second));
  if (!read || !write) return std::nullopt;
  return Pipe{std::move(*read), std::move(*write)};
}

// O_NONBLOCK belongs to the open file, not to the descriptor: set it only on
// ends the child does not get.
void never_block(const Descriptor& fd) {
  ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) | O_NONBLOCK);
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const auto& text : texts)
    pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// Empty: ours, as it is.
std::vector<std::string> with_ours(const Environment& extra) {
  std::vector<std::string> lines;
  if (extra.empty()) return lines;
  Environment all = current_environment();
  for (const auto& [name, value] : extra)
    all[name] = value;
  for (const auto& [name, value] : all)
    lines.push_back(cat(name, "=", value));
  return lines;
}

// The attributes and actions of posix_spawn.
class SpawnPlan {
 public:
  explicit SpawnPlan(const ProgramStart& start) {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawnattr_init(&attributes_);
    redirect(start.in, STDIN_FILENO);
    redirect(start.out, STDOUT_FILENO);
    redirect(start.err, STDERR_FILENO);
    short flags = 0;
    if (start.own_group) {
      ::posix_spawnattr_setpgroup(&attributes_, 0);
      flags |= POSIX_SPAWN_SETPGROUP;
    }
    if (start.default_signals) {
      sigset_t all;
      sigfillset(&all);
      sigdelset(&all, SIGKILL);
      sigdelset(&all, SIGSTOP);
      ::posix_spawnattr_setsigdefault(&attributes_, &all);
      flags |= POSIX_SPAWN_SETSIGDEF;
    }
    if (start.blocked) {
      sigset_t blocked;
      sigemptyset(&blocked);
      for (const int signal : *start.blocked)
        sigaddset(&blocked, signal);
      ::posix_spawnattr_setsigmask(&attributes_, &blocked);
      flags |= POSIX_SPAWN_SETSIGMASK;
    }
    ::posix_spawnattr_setflags(&attributes_, flags);
  }
  ~SpawnPlan() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  const posix_spawn_file_actions_t* actions() const {
    return &actions_;
  }
  const posix_spawnattr_t* attributes() const {
    return &attributes_;
  }

 private:
  void redirect(int from, int stream) {
    if (from >= 0) ::posix_spawn_file_actions_adddup2(&actions_, from, stream);
  }

  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

// A pipe is inheritable for a moment after it is made; without the lock a
// program that another thread starts in that moment could hold it open.
std::mutex& one_at_a_time() {
  static std::mutex mutex;
  return mutex;
}

// Under the lock.
std::optional<pid_t> launch(const ProgramStart& start, std::string& error) {
  const SpawnPlan plan(start);
  const auto environment = with_ours(start.extra);
  auto argv = pointers(start.arguments);
  auto envp = pointers(environment);
  const bool by_name = start.program.empty();
  pid_t pid = -1;
  const int code = (by_name ? ::posix_spawnp : ::posix_spawn)(
      &pid,
      by_name ? argv[0] : start.program.c_str(),
      plan.actions(),
      plan.attributes(),
      argv.data(),
      environment.empty() ? environ : envp.data());
  if (code == 0) return pid;
  error = error_text(code);
  return std::nullopt;
}

} // namespace

std::optional<pid_t> spawn(const ProgramStart& start, std::string& error) {
  const std::lock_guard<std::mutex> lock(one_at_a_time());
  return launch(start, error);
}

std::optional<Child> start_child(
    const std::vector<std::string>& arguments,
    std::string& error,
    const Environment& extra) {
  const std::lock_guard<std::mutex> lock(one_at_a_time());
  auto in = make_pipe();
  auto out = make_pipe();
  auto err = make_pipe();
  if (!in || !out || !err) {
    error = cat("cannot make a pipe: ", error_text(errno));
    return std::nullopt;
  }
  ProgramStart start;
  start.arguments = arguments;
  start.extra = extra;
  start.in = in->read.get();
  start.out = out->write.get();
  start.err = err->write.get();
  start.own_group = true;
  start.default_signals = true;
  start.blocked.emplace(); // none
  const auto pid = launch(start, error);
  if (!pid) return std::nullopt;
  Child child;
  child.pid = *pid;
  child.in = std::move(*in);
  child.out = std::move(out->read);
  child.err = std::move(err->read);
  never_block(child.in.write);
  never_block(child.out);
  never_block(child.err);
  return child;
}

bool has_ended(pid_t pid) {
  siginfo_t info{};
  const int status = ::waitid(
      P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT);
  // An error other than EINTR: someone else reaped it.
  if (status != 0) return errno != EINTR;
  return info.si_pid == pid;
}

std::optional<int> put_away(pid_t pid) {
  ::kill(-pid, SIGKILL);
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + kReapTime;
  while (!has_ended(pid)) {
    if (Clock::now() > deadline) return std::nullopt;
    std::this_thread::sleep_for(kReapTick);
  }
  int status = 0;
  pid_t reaped = -1;
  do {
    reaped = ::waitpid(pid, &status, WNOHANG);
  } while (reaped < 0 && errno == EINTR);
  if (reaped != pid) return std::nullopt;
  return status;
}

} // namespace temper
