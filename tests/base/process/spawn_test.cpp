#include "temper/base/process/spawn.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/emulator.h"
#include "tests/temp_folder.h"
#include "tests/wait_until.h"

namespace temper {
namespace {

// What a shell writes and how it ends, started so.
struct Ended {
  std::string output;
  int status = -1;
};

Ended end_of(ProgramStart start, const std::string& script) {
  const tests::TempFolder folder;
  const Descriptor output(
      ::open((folder / "out").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  start.program = "/bin/sh";
  start.arguments = {"called", "-c", script};
  start.out = output.get();
  std::string why;
  const auto pid = spawn(start, why);
  Ended ended;
  if (pid) ::waitpid(*pid, &ended.status, 0);
  ended.output = tests::read_bytes(folder / "out");
  return ended;
}

TEST(Spawn, GivesAProgramItsNameStreamAndVariables) {
  ProgramStart start;
  start.extra = {{"TEMPER_SPAWN_TEST", "a value"}};
  const Ended ended = end_of(start, "echo $0: $TEMPER_SPAWN_TEST");
  EXPECT_EQ(ended.output, "called: a value\n");
  EXPECT_EQ(ended.status, 0);
}

TEST(Spawn, BlocksTheSignalsThatAreNamedAndNoOthers) {
  ProgramStart start;
  start.blocked = std::vector<int>{SIGTERM};
  EXPECT_EQ(end_of(start, "kill -TERM $$; echo alive").output, "alive\n");
  const Ended died = end_of(start, "kill -USR1 $$; echo alive");
  EXPECT_EQ(died.output, "");
  EXPECT_EQ(WTERMSIG(died.status), SIGUSR1);
}

TEST(Spawn, LeavesAProgramInOurGroupUnlessItGetsItsOwn) {
  for (const bool own : {false, true}) {
    ProgramStart start;
    start.arguments = {"sleep", "60"};
    start.own_group = own;
    std::string why;
    const auto pid = spawn(start, why);
    ASSERT_TRUE(pid) << why;
    const pid_t group = own ? *pid : ::getpgrp();
    // The emulator does not wait for what its child does first.
    if (tests::emulated())
      tests::wait_until([&] { return ::getpgid(*pid) == group; });
    EXPECT_EQ(::getpgid(*pid), group);
    ::kill(*pid, SIGKILL);
    int status = 0;
    ::waitpid(*pid, &status, 0);
  }
}

TEST(Spawn, SaysWhyAProgramDidNotStart) {
  ProgramStart start;
  start.program = "/no/such/program";
  start.arguments = {"program"};
  std::string why;
  const auto pid = spawn(start, why);
  if (pid) GTEST_SKIP() << "the emulator hides it";
  EXPECT_EQ(why, "No such file or directory");
}

} // namespace
} // namespace temper
