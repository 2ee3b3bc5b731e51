// A call that never comes back, in each place where a run waits for something:
// it is named, and the run completes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>

#include "images.h"
#include "temper/base/text.h"
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

TEST_P(Hang, it_is_named_and_the_run_completes) {
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
       {"HANG_ONCE", folder.text("once")}});
  ASSERT_EQ(training.wait(), 0) << training.output();
  EXPECT_TRUE(std::filesystem::exists(folder / "once"));
  const auto events = journal_of(run);
  EXPECT_EQ(faults_of_journal(events, run.steps), "");
  ASSERT_EQ(count_kind(events, "hang"), 1) << training.output();
  for (const auto& event : events) {
    if (event.kind != "hang") continue;
    EXPECT_EQ(event.text("phase"), place.phase);
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

// Training neither waits for it nor is started again because of it.
TEST(HangOfTracker, a_server_that_never_answers_holds_nobody_up) {
  if (!full()) GTEST_SKIP() << "only in the full form: make torture.";
  const SilentServer server;
  const tests::TempFolder folder;
  write_small_network(folder / "net.pt2");
  SmallRun run;
  run.folder = folder.path();
  run.name = "tracker";
  run.set = {"watchdog.seconds=4", "track.mlflow=" + server.address()};
  Training training(run);
  EXPECT_EQ(training.wait(), 0) << training.output();
  const auto events = journal_of(run);
  EXPECT_EQ(faults_of_journal(events, run.steps), "");
  EXPECT_EQ(count_kind(events, "hang"), 0);
  EXPECT_EQ(count_kind(events, "death"), 0);
}

INSTANTIATE_TEST_SUITE_P(
    Torture,
    Hang,
    testing::ValuesIn(kPlaces),
    [](const auto& place) { return std::string(place.param.name); });

} // namespace
} // namespace temper::torture
