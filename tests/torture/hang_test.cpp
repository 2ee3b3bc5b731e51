// A call that never comes back, in each place where a run waits for something:
// it is named, and the run completes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>

#include "images.h"
#include "temper/base/text.h"
#include "tests/data/tar_writer.h"
#include "tests/temp_folder.h"
#include "training.h"

namespace temper::torture {
namespace {

using testing::HasSubstr;

struct Place {
  const char* name; // of the test
  const char* call; // of hang_shim.cpp
  const char* path;
  const char* phase; // as it must be named
  const char* in_hand;
  bool in_short; // also done by ctest
};

const Place kPlaces[] = {
    {"reader", "open", "image17.png", "waiting for data", "image17.png", true},
    {"decoder", "decode", "", "waiting for data", ".png (sample ", false},
    {"checkpoint", "fsync", "/checkpoints/", "saving a checkpoint", "", true},
};

void PrintTo(const Place& place, std::ostream* out) {
  *out << place.name;
}

class Hang : public testing::TestWithParam<Place> {};

TEST_P(Hang, ItIsNamedAndTheRunCompletes) {
  const Place& place = GetParam();
  if (!place.in_short && !full())
    GTEST_SKIP() << "only in the full form: make torture.";
  const tests::TempFolder folder;
  write_small_network(folder / "net.pt2");
  write_images(folder / "images", 40, 8, 8);
  SmallRun run;
  run.folder = folder.path();
  run.name = place.name;
  run.data = "folder:" + folder.text("images");
  run.steps = 30;
  run.set = {"watchdog.seconds=4", "data.val_fraction=0", "data.image_size=8"};
  Training training(
      run,
      {{"LD_PRELOAD", TEMPER_HANG_SHIM},
       {"HANG_CALL", place.call},
       {"HANG_PATH", place.path},
       {"HANG_ONCE", folder.text("once")},
       // Files are read for their sums before the run has a journal.
       {"HANG_AFTER", run.directory().journal().string()}});
  ASSERT_EQ(training.wait(), 0) << training.output();
  EXPECT_TRUE(std::filesystem::exists(folder / "once"));
  const auto events = journal_of(run);
  EXPECT_EQ(faults_of_journal(events, run.steps), "");
  ASSERT_EQ(count_kind(events, "hang"), 1) << training.output();
  for (const auto& event : events) {
    if (event.kind != "hang") continue;
    EXPECT_EQ(event.text("phase"), place.phase);
    EXPECT_GE(event.number("silent_s").value_or(0), 4);
    EXPECT_THAT(event.text("in_hand").value_or(""), HasSubstr(place.in_hand));
    const auto stacks = event.text("stacks");
    ASSERT_TRUE(stacks);
    EXPECT_THAT(
        tests::read_bytes(run.directory().path / *stacks),
        HasSubstr("hang_shim"));
  }
  EXPECT_EQ(count_kind(events, "death"), 0);
  RecordProperty("cases", 1);
}

// Takes connections, and never says a word.
class SilentServer {
 public:
  SilentServer() : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    socklen_t size = sizeof(address);
    if (::bind(socket_, any, size) != 0 || ::listen(socket_, 64) != 0 ||
        ::getsockname(socket_, any, &size) != 0)
      throw std::runtime_error("no server");
    port_ = ntohs(address.sin_port);
  }
  ~SilentServer() {
    ::close(socket_);
  }
  std::string address() const {
    return cat("http://127.0.0.1:", port_);
  }

 private:
  int socket_;
  int port_ = 0;
};

// Whoever never answers: the server, or the system on the way to it.
class HangOfTracker : public testing::TestWithParam<const char*> {};

// Training neither waits for it nor is started again because of it.
TEST_P(HangOfTracker, ItIsNamedAndHoldsNobodyUp) {
  const bool server_only = std::string(GetParam()) == "server";
  if (!server_only && !full())
    GTEST_SKIP() << "only in the full form: make torture.";
  const SilentServer server;
  const tests::TempFolder folder;
  write_small_network(folder / "net.pt2");
  SmallRun run;
  run.folder = folder.path();
  run.name = "tracker";
  run.steps = 1'000'000'000;
  run.set = {"watchdog.seconds=2", "track.mlflow=" + server.address()};
  if (!server_only) run.flags = {"--no-supervise"};
  Environment extra;
  if (!server_only)
    extra = {
        {"LD_PRELOAD", TEMPER_HANG_SHIM},
        {"HANG_CALL", "connect"},
        {"HANG_ONCE", folder.text("once")}};
  {
    Training training(run, extra);
    ASSERT_TRUE(training.reach_event("hang")) << training.output();
    ASSERT_TRUE(training.reach(training.last_step() + 20));
    ::kill(training.pid(), SIGTERM);
    EXPECT_EQ(training.wait(), 75) << training.output();
  }
  for (const auto& event : journal_of(run)) {
    if (event.kind != "hang") continue;
    EXPECT_EQ(event.text("phase"), "telling a tracker");
    EXPECT_THAT(
        event.text("in_hand").value_or(""), HasSubstr(server.address()));
    EXPECT_GE(event.number("silent_s").value_or(0), 2);
  }
  SmallRun rest = run;
  rest.steps = last_step_of(journal_of(run)) + 10;
  auto resume = Training::resume_of(run);
  for (const std::string& change :
       {std::string("track.mlflow=off"), cat("train.max_steps=", rest.steps)}) {
    resume.emplace_back("--set");
    resume.push_back(change);
  }
  Training training(rest, resume, {});
  EXPECT_EQ(training.wait(), 0) << training.output();
  const auto events = journal_of(run);
  EXPECT_EQ(faults_of_journal(events, rest.steps), "");
  EXPECT_EQ(count_kind(events, "death"), 0);
  RecordProperty("cases", 1);
}

INSTANTIATE_TEST_SUITE_P(
    Torture,
    HangOfTracker,
    testing::Values("server", "system"),
    [](const auto& place) { return std::string(place.param); });

// One sample's members of an archive.
std::string sample_of_archive(const tests::TempFolder& folder, int i) {
  data::write_png(
      folder / "sample.png",
      data::picture(8, 8, 3, 1, static_cast<std::uint32_t>(i)));
  return data::tar_member(
             cat(i, ".png"), tests::read_bytes(folder / "sample.png")) +
      data::tar_member(cat(i, ".cls"), cat(i % 4));
}

// A generator of somebody's own that stops answering, once.
TEST(HangOfProgram, ItIsNamedAndTheRunCompletes) {
  const tests::TempFolder folder;
  write_small_network(folder / "net.pt2");
  constexpr int kSamples = 48;
  for (int i = 0; i < kSamples; ++i)
    folder.write(cat("s", i), sample_of_archive(folder, i));
  folder.write(
      "generate",
      cat("cd ",
          folder.text(""),
          "; i=$TEMPER_START; while [ $i -lt ",
          kSamples,
          " ]; do if [ $i -eq 20 ] && [ ! -e once ]; then touch once; ",
          "sleep 60; fi; cat s$i; i=$((i+1)); done\n"));
  SmallRun run;
  run.folder = folder.path();
  run.name = "program";
  run.data = "cmd:sh " + folder.text("generate");
  run.steps = 30;
  run.set = {
      "watchdog.seconds=2", "data.image_size=8", "checkpoint.every_steps=1"};
  Training training(run);
  ASSERT_EQ(training.wait(), 0) << training.output();
  EXPECT_TRUE(std::filesystem::exists(folder / "once"));
  const auto events = journal_of(run);
  EXPECT_EQ(faults_of_journal(events, run.steps), "");
  EXPECT_EQ(count_kind(events, "death"), 0);
  ASSERT_EQ(count_kind(events, "hang"), 1) << training.output();
  for (const auto& event : events) {
    if (event.kind != "hang") continue;
    EXPECT_EQ(event.text("phase"), "waiting for data");
    EXPECT_EQ(event.text("in_hand"), cat("sample 20 of ", run.data));
    const std::string report = tests::read_bytes(
        run.directory().path / event.text("stacks").value_or("none"));
    EXPECT_THAT(report, HasSubstr(run.data));
    EXPECT_THAT(report, HasSubstr("thread "));
  }
  RecordProperty("cases", 1);
}

INSTANTIATE_TEST_SUITE_P(
    Torture,
    Hang,
    testing::ValuesIn(kPlaces),
    [](const auto& place) { return std::string(place.param.name); });

} // namespace
} // namespace temper::torture
