#include "temper/base/process/process.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "temper/base/text.h"
#include "tests/base/process/alive.h"
#include "tests/emulator.h"

namespace temper {
namespace {

using End = ProcessResult::End;
using std::chrono::milliseconds;

ProcessResult shell(
    const std::string& script,
    ProcessLimits limits = {},
    const std::string& input = "") {
  return run_process({"/bin/sh", "-c", script}, input, limits);
}

ProcessLimits within(int ms) {
  return {.time = milliseconds{ms}};
}

int open_descriptors() {
  int count = 0;
  for (int fd = 0; fd < 1024; ++fd)
    if (::dup2(fd, fd) == fd) ++count;
  return count;
}

TEST(Process, ReportsTheExitCodeAndBothStreams) {
  const auto result = shell("echo out; echo err >&2; exit 7");
  EXPECT_EQ(result.end, End::exited);
  EXPECT_EQ(result.code, 7);
  EXPECT_EQ(result.out, "out\n");
  EXPECT_EQ(result.err, "err\n");
  EXPECT_FALSE(result.succeeded());
  EXPECT_TRUE(shell("true").succeeded());
}

TEST(Process, ReportsTheSignalThatEndedIt) {
  const auto result = shell("echo before; kill -SEGV $$");
  EXPECT_EQ(result.end, End::signalled);
  EXPECT_EQ(result.code, SIGSEGV);
  EXPECT_EQ(result.out, "before\n");
  EXPECT_TRUE(contains(describe_end(result, {}), "signal 11"));
}

TEST(Process, FindsTheProgramInThePath) {
  EXPECT_EQ(run_process({"echo", "a b", ""}).out, "a b \n");
}

TEST(Process, SaysWhyAProgramDidNotStart) {
  if (tests::emulated()) GTEST_SKIP() << "the emulator hides it";
  const auto missing = run_process({"/no/such/program"});
  EXPECT_EQ(missing.end, End::not_started);
  EXPECT_EQ(missing.error, "No such file or directory");
  EXPECT_EQ(
      run_process({"no-such-program-in-path"}).error,
      "No such file or directory");
  EXPECT_EQ(run_process({"/"}).error, "Permission denied");
  EXPECT_EQ(run_process({}).end, End::not_started);
  EXPECT_EQ(run_process({""}).end, End::not_started);

  const auto path = std::filesystem::path(testing::TempDir()) / "plain_file";
  std::ofstream(path) << "#!/bin/sh\nexit 0\n";
  EXPECT_EQ(run_process({path.string()}).error, "Permission denied");
}

TEST(Process, KillsAProgramThatIgnoresPoliteSignals) {
  const auto result =
      shell("trap '' TERM INT HUP; while :; do sleep 0.01; done", within(150));
  EXPECT_EQ(result.end, End::timed_out);
}

TEST(Process, KillsTheChildrenOfASlowProgramToo) {
  const auto result = shell("sleep 60 & echo $!; wait", within(150));
  EXPECT_EQ(result.end, End::timed_out);
  EXPECT_FALSE(tests::alive(parse_int(trim(result.out))));
}

TEST(Process, KeepsWhatWasWrittenBeforeTheTimeLimit) {
  EXPECT_EQ(shell("echo early; sleep 60", within(150)).out, "early\n");
}

TEST(Process, StopsAtTheOutputLimit) {
  ProcessLimits limits;
  limits.output_bytes = 100'000;
  const auto result = shell("while :; do echo yyyyyyyyyyyyyyyy; done", limits);
  EXPECT_EQ(result.end, End::too_much_output);
  EXPECT_EQ(result.out.size(), 100'000u);
  const auto quiet =
      shell("while :; do echo yyyyyyyyyyyyyyyy; done >&2", limits);
  EXPECT_EQ(quiet.end, End::too_much_output);
  EXPECT_EQ(quiet.err.size(), 100'000u);
}

TEST(Process, KeepsOutputOfExactlyTheLimit) {
  ProcessLimits limits;
  limits.output_bytes = 5;
  EXPECT_EQ(shell("printf 12345", limits).end, End::exited);
  EXPECT_EQ(shell("printf 123456", limits).end, End::too_much_output);
}

TEST(Process, CollectsBothStreamsPastThePipeCapacity) {
  const auto result = shell(
      "i=0; while [ $i -lt 60 ]; do "
      "head -c 5000 /dev/zero; head -c 5000 /dev/zero >&2; i=$((i+1)); done");
  EXPECT_EQ(result.end, End::exited);
  EXPECT_EQ(result.out.size(), 300'000u);
  EXPECT_EQ(result.err.size(), 300'000u);
}

TEST(Process, GivesTheInputAndThenItsEnd) {
  std::string input;
  for (int i = 0; i < 100'000; ++i)
    input += static_cast<char>('a' + i % 26);
  ProcessLimits limits;
  limits.output_bytes = 1 << 20;
  EXPECT_EQ(run_process({"cat"}, input, limits).out, input);
  EXPECT_EQ(run_process({"cat"}).out, "");
}

TEST(Process, LeavesSignalsAloneWhenTheInputIsNotRead) {
  const std::string input(1 << 20, 'x');
  // The second one closes its standard input and lives on: a plain write
  // would raise SIGPIPE there and end the tests.
  EXPECT_EQ(shell("exit 3", {}, input).code, 3);
  EXPECT_EQ(shell("exec 0<&-; sleep 0.05; exit 4", {}, input).code, 4);
}

TEST(Process, DoesNotWaitForAGrandchildThatHoldsThePipes) {
  const auto result = shell("sleep 60 & echo $!; exit 5", within(3'000));
  EXPECT_EQ(result.end, End::exited);
  EXPECT_EQ(result.code, 5);
  EXPECT_FALSE(tests::alive(parse_int(trim(result.out))));
}

TEST(Process, DoesNotWaitForADaemonOutsideItsGroup) {
  // A daemon in a session of its own survives, but cannot hold us up.
  if (run_process({"setsid", "true"}).end == End::not_started)
    GTEST_SKIP() << "no setsid here";
  const auto result = shell(
      "(setsid sh -c 'echo $$; exec sleep 6' &); sleep 0.1", within(3'000));
  EXPECT_EQ(result.end, End::exited);
  if (const auto pid = parse_int(trim(result.out)))
    ::kill(static_cast<pid_t>(*pid), SIGKILL);
}

TEST(Process, LeavesNoDescriptorsAndNoZombies) {
  const int before = open_descriptors();
  for (int i = 0; i < 5; ++i) {
    shell("echo x; exit 1", {}, "input");
    run_process({"/no/such/program"});
    shell("sleep 60 & sleep 60", within(20));
    shell("while :; do echo y; done", {.output_bytes = 10});
  }
  EXPECT_EQ(open_descriptors(), before);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST(Process, TheChildSeesOnlyItsThreeStreams) {
  const int ours = open_descriptors();
  // ls opens the directory itself: one more than the streams it was given.
  const auto result = shell("ls /dev/fd | wc -l");
  const auto seen = parse_int(trim(result.out));
  ASSERT_TRUE(seen) << result.out << result.err;
  // What this test program got from its own parent is passed on; the pipes of
  // the run are not.
  EXPECT_LE(*seen, ours + 1);
}

TEST(Process, StartsTheChildWithSignalsAsUsual) {
  sigset_t set;
  sigset_t old;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &set, &old);
  const auto result = shell("kill -TERM $$; exit 0");
  pthread_sigmask(SIG_SETMASK, &old, nullptr);
  EXPECT_EQ(result.end, End::signalled);
  EXPECT_EQ(result.code, SIGTERM);
}

TEST(Process, RunsFromSeveralThreadsAtOnce) {
  std::vector<std::thread> threads;
  std::vector<ProcessResult> results(8);
  for (std::size_t i = 0; i < results.size(); ++i)
    threads.emplace_back([&results, i] {
      const auto number = std::to_string(i);
      for (int k = 0; k < 5; ++k)
        results[i] = shell("cat; exit " + number, {}, number);
    });
  for (auto& thread : threads)
    thread.join();
  for (std::size_t i = 0; i < results.size(); ++i) {
    EXPECT_EQ(results[i].code, static_cast<int>(i));
    EXPECT_EQ(results[i].out, std::to_string(i));
  }
}

TEST(Process, DescribesEveryEndInWords) {
  const ProcessLimits limits{.time = milliseconds{1500}, .output_bytes = 1024};
  ProcessResult result;
  result.error = "No such file or directory";
  EXPECT_EQ(
      describe_end(result, limits), "not started: No such file or directory");
  result.end = End::timed_out;
  EXPECT_EQ(describe_end(result, limits), "no end within 1.5 s");
  result.end = End::too_much_output;
  EXPECT_EQ(describe_end(result, limits), "more than 1.0 KiB of output");
  result.end = End::exited;
  result.code = 3;
  EXPECT_EQ(describe_end(result, limits), "exit code 3");
}

} // namespace
} // namespace temper
