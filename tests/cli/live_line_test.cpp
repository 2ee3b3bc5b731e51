// The live line of `temper train` on a terminal, while its tracker is away.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <chrono>

#include "temper/base/environment.h"
#include "temper/base/spawn.h"
#include "temper/base/text.h"
#include "tests/emulator.h"
#include "tests/temp_folder.h"

namespace temper {
namespace {

using Clock = std::chrono::steady_clock;

// A program on a terminal of its own, ended together with what it started.
class OnTerminal {
 public:
  OnTerminal(std::vector<std::string> words, const Environment& extra)
      : terminal_(::posix_openpt(O_RDWR | O_NOCTTY)) {
    if (!terminal_.open() || ::grantpt(terminal_.get()) != 0 ||
        ::unlockpt(terminal_.get()) != 0)
      return;
    const std::string name = ::ptsname(terminal_.get());
    Environment environment = current_environment();
    for (const auto& [key, value] : extra)
      environment[key] = value;
    std::vector<std::string> settings;
    for (const auto& [key, value] : environment)
      settings.push_back(cat(key, "=", value));
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    for (const int fd : {0, 1, 2})
      ::posix_spawn_file_actions_addopen(
          &actions, fd, name.c_str(), O_RDWR | O_NOCTTY, 0);
    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    if (::posix_spawnp(
            &pid_,
            words.at(0).c_str(),
            &actions,
            &attributes,
            pointers(words).data(),
            pointers(settings).data()) != 0)
      pid_ = -1;
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
  }
  ~OnTerminal() {
    if (pid_ <= 0) return;
    ::kill(-pid_, SIGKILL);
    int status = 0;
    ::waitpid(pid_, &status, 0);
  }

  bool started() const {
    return pid_ > 0;
  }
  bool shows(const std::string& text, std::chrono::seconds within) {
    const auto end = Clock::now() + within;
    while (Clock::now() < end && !contains(seen_, text)) {
      pollfd asked{terminal_.get(), POLLIN, 0};
      if (::poll(&asked, 1, 100) <= 0) continue;
      char piece[4096];
      const ssize_t got = ::read(terminal_.get(), piece, sizeof piece);
      if (got <= 0) break;
      seen_.append(piece, static_cast<std::size_t>(got));
    }
    return contains(seen_, text);
  }
  const std::string& seen() const {
    return seen_;
  }

 private:
  static std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> all;
    for (std::string& text : texts)
      all.push_back(text.data());
    all.push_back(nullptr);
    return all;
  }

  Descriptor terminal_;
  pid_t pid_ = -1;
  std::string seen_;
};

// With the followers in the parent, and in the process that trains.
class LiveLine : public testing::TestWithParam<const char*> {};

TEST_P(LiveLine, counts_what_a_tracker_that_is_away_has_not_taken) {
  const tests::TempFolder folder;
  std::vector<std::string> words = tests::emulator_command();
  words.insert(
      words.end(),
      {TEMPER_PROGRAM,
       "train",
       "--data",
       "synthetic:rows=64,features=4,classes=2",
       "--epochs",
       "1000000"});
  // Nobody listens at the port of "discard".
  for (const std::string& each :
       {std::string("plan.seconds=0"),
        std::string("model.widths=[4]"),
        std::string("track.mlflow=http://127.0.0.1:9"),
        "run.dir=" + folder.text("runs")})
    words.insert(words.end(), {"--set", each});
  OnTerminal temper(
      words, {{"TEMPER_SUPERVISE", GetParam()}, {"TERM", "xterm"}});
  if (!temper.started()) GTEST_SKIP() << "there are no terminals here";
  EXPECT_TRUE(temper.shows(" behind  loss", std::chrono::seconds(100)))
      << temper.seen();
  EXPECT_THAT(temper.seen(), testing::HasSubstr("of the journal wait."));
}

INSTANTIATE_TEST_SUITE_P(Supervised, LiveLine, testing::Values("0", "1"));

} // namespace
} // namespace temper
