// A program that saves checkpoints is killed after every system call, given
// errors by its disk, and has its power cut. TEMPER_TORTURE=1 tries everything
// instead of a part.
#include <cerrno>
#include <cstdlib>
#include <random>

#include "known_snapshot.h"
#include "power_cut.h"
#include "temper/base/log.h"
#include "temper/base/process/process.h"
#include "temper/base/text.h"
#include "temper/checkpoint/names.h"
#include "tests/temp_folder.h"

namespace temper::checkpoint {
namespace {

namespace fs = std::filesystem;
using tests::known_snapshot;

constexpr int kSaves = 5;

// Thousands of syncs: in memory where there is such a folder. What is tested
// does not depend on the disk.
const bool kInMemory =
    fs::exists("/dev/shm") && ::setenv("TMPDIR", "/dev/shm", 0) == 0;

bool everything() {
  return std::getenv("TEMPER_TORTURE") != nullptr;
}

std::vector<std::size_t> sizes() {
  return everything() ? std::vector<std::size_t>{100, 100'000, 3'000'000}
                      : std::vector<std::size_t>{1000};
}

class Crash : public testing::Test {
 protected:
  Crash() : before_(log::set_sink([](log::Level, const std::string&) {})) {}
  ~Crash() override {
    log::set_sink(before_);
  }

  fs::path folder() const {
    return temp_ / "run/checkpoints";
  }
  void clear() const {
    fs::remove_all(temp_ / "run");
    fs::create_directories(temp_ / "run");
  }
  ProcessResult save(std::size_t bytes, const std::vector<std::string>& orders)
      const {
    std::vector<std::string> line{
        "env",
        cat("LD_PRELOAD=", TEMPER_CRASH_SHIM),
        cat("SHIM_FOLDER=", (temp_ / "run").string())};
    line.insert(line.end(), orders.begin(), orders.end());
    for (const std::string& word :
         {std::string(TEMPER_SAVER_PROGRAM),
          folder().string(),
          cat(kSaves),
          cat(bytes)})
      line.push_back(word);
    ProcessLimits limits;
    limits.time = std::chrono::seconds(60);
    return run_process(line, "", limits);
  }
  std::vector<tests::DiskCall> record(std::size_t bytes) const {
    clear();
    const fs::path log = temp_ / "log";
    fs::remove(log);
    const auto result = save(bytes, {cat("SHIM_LOG=", log.string())});
    EXPECT_TRUE(result.succeeded()) << result.err;
    return tests::read_calls(log);
  }
  // The last update that the program said it had saved.
  static std::int64_t last_saved(const std::string& said) {
    const auto at = said.rfind("saved ");
    return at == std::string::npos ? 0 : std::atoll(said.c_str() + at + 6);
  }

  tests::TempFolder temp_;
  log::Sink before_;
};

// The newest that a crash left, and of those until then the best: the second.
void expect_named(const fs::path& folder, std::int64_t newest) {
  EXPECT_EQ(tests::read_bytes(folder / "latest"), folder_name(newest) + "\n");
  EXPECT_EQ(
      tests::read_bytes(folder / "best"),
      newest < 2 ? "" : folder_name(2) + "\n");
}

long counted(const std::vector<tests::DiskCall>& calls) {
  long count = 0;
  for (const auto& call : calls)
    count += call.what == "mark" ? 0 : 1;
  return count;
}

TEST_F(Crash, KilledAfterAnySystemCallItGoesOnFromTheLastOne) {
  int kills = 0;
  for (const std::size_t bytes : sizes()) {
    const long calls = counted(record(bytes));
    ASSERT_GT(calls, 60);
    for (long n = 0; n <= calls; ++n, ++kills) {
      SCOPED_TRACE(cat("killed after call ", n, " of ", calls));
      clear();
      const auto result = save(bytes, {cat("SHIM_KILL_AFTER=", n)});
      ASSERT_EQ(result.end, ProcessResult::End::signalled) << result.err;
      const std::int64_t saved = last_saved(result.out);
      const auto loaded = Store(folder()).load_latest();
      ASSERT_TRUE(loaded || saved == 0);
      if (loaded) {
        EXPECT_TRUE(tests::is_known(*loaded));
        EXPECT_GE(loaded->update, saved);
        EXPECT_LE(loaded->update, saved + 1);
      }
      // Going on cleans up, and finds nothing in its way.
      Store next(folder());
      if (loaded) {
        next.recover(*loaded);
        expect_named(folder(), loaded->update);
      }
      auto more = known_snapshot(saved + 1, 5, bytes);
      more.best = true;
      next.save(more);
      EXPECT_EQ(Store(folder()).load_latest()->update, saved + 1);
      EXPECT_EQ(Store(folder()).load_best()->update, saved + 1);
      for (const std::string& name : names_in(folder()))
        EXPECT_TRUE(name == "latest" || name == "best" || update_of(name))
            << name;
    }
  }
  RecordProperty("cases", kills);
}

TEST_F(Crash, WhateverAPowerCutLeavesTheNewestSyncedOneLoads) {
  const int cuts = everything() ? 200 : 3;
  std::mt19937 random(7);
  int damages = 0;
  for (const std::size_t bytes : sizes()) {
    const auto calls = record(bytes);
    tests::Disk disk((temp_ / "run").string());
    std::int64_t saved = 0;
    for (std::size_t n = 0; n < calls.size(); ++n) {
      disk.run(calls[n]);
      if (calls[n].what == "mark") saved = std::stoll(calls[n].path);
      for (int cut = 0; cut < cuts; ++cut, ++damages) {
        SCOPED_TRACE(cat("cut ", cut, " after call ", n, ", ", calls[n].what));
        const fs::path left = temp_ / "left";
        fs::remove_all(left);
        disk.cut(random, left);
        const auto loaded = Store(left / "checkpoints").load_latest();
        ASSERT_TRUE(loaded || saved == 0);
        if (!loaded) continue;
        EXPECT_TRUE(tests::is_known(*loaded));
        EXPECT_GE(loaded->update, saved);
        Store(left / "checkpoints").recover(*loaded);
        expect_named(left / "checkpoints", loaded->update);
      }
    }
    EXPECT_EQ(saved, kSaves);
  }
  EXPECT_GE(damages, 50);
  RecordProperty("cases", damages);
}

TEST_F(Crash, ADiskThatRefusesOnceCostsOneCheckpointAtMost) {
  int errors = 0;
  for (const std::size_t bytes : sizes()) {
    const long calls = counted(record(bytes));
    const long step = everything() ? 1 : calls / 9;
    int refused = 0;
    for (const int code : {ENOSPC, EIO})
      for (long n = 1 + code % 3; n <= calls; n += step, ++errors) {
        SCOPED_TRACE(cat("call ", n, " of ", calls, " fails with ", code));
        clear();
        const auto result =
            save(bytes, {cat("SHIM_FAIL_FROM=", n), cat("SHIM_ERRNO=", code)});
        ASSERT_TRUE(result.succeeded()) << result.err;
        std::int64_t saved = 0;
        std::istringstream said(result.out);
        std::string word;
        for (std::int64_t update = 0; said >> word >> update;) {
          if (word == "saved") saved = update;
          if (word == "failed") ++refused;
          if (word == "good" && saved > 0) {
            EXPECT_GE(update, saved);
          }
        }
        const auto loaded = Store(folder()).load_latest();
        ASSERT_TRUE(loaded);
        EXPECT_TRUE(tests::is_known(*loaded));
        EXPECT_GE(loaded->update, saved);
        EXPECT_GE(saved, kSaves - 1);
      }
    EXPECT_GT(refused, 3);
  }
  RecordProperty("cases", errors);
}

TEST_F(Crash, ADiskThatStaysFullLeavesTheLastGoodOne) {
  const long calls = counted(record(1000));
  for (long n = calls / 2; n <= calls; n += everything() ? 1 : calls / 8) {
    clear();
    const auto result =
        save(1000, {cat("SHIM_FAIL_FROM=", n), "SHIM_FAIL_COUNT=1000000"});
    ASSERT_TRUE(result.succeeded()) << result.err;
    const auto loaded = Store(folder()).load_latest();
    ASSERT_TRUE(loaded) << n;
    EXPECT_TRUE(tests::is_known(*loaded));
    EXPECT_GE(loaded->update, last_saved(result.out));
  }
}

} // namespace
} // namespace temper::checkpoint
