#include "temper/journal/restart_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/journal/journal.h"
#include "temper/journal/run_lock.h"
#include "tests/complaint.h"
#include "tests/temp_folder.h"

namespace temper::journal {
namespace {

using testing::HasSubstr;

class Aside : public testing::Test {
 protected:
  // As a resume does it.
  void resume(std::uint64_t offset) const {
    Journal journal(run_.journal());
    journal.truncate(offset);
    journal.append({"resume", 1, {}});
    for (const Event& event : missing_aside(run_))
      journal.append(event);
  }
  std::vector<std::int64_t> numbers() const {
    std::vector<std::int64_t> all;
    for (const Event& event : read_journal(run_.journal()))
      if (const auto number = event.count("number")) all.push_back(*number);
    return all;
  }

  tests::TempFolder folder_;
  RunDirectory run_{folder_.path()};
};

TEST_F(Aside, EachEventIsInTheJournalOnceHoweverOftenItIsCut) {
  using Numbers = std::vector<std::int64_t>;
  std::uint64_t checkpoint = 0;
  {
    Journal journal(run_.journal());
    journal.append({"run", 1, {}});
    checkpoint = journal.offset();
    journal.append({"step", 1, {}});
  }
  set_aside(run_, {"death", 2, {{"why", std::string("killed")}}});
  resume(checkpoint);
  EXPECT_EQ(numbers(), Numbers({1}));
  // Before another checkpoint: what the first resume wrote is cut off again.
  set_aside(run_, {"hang", 3, {}});
  resume(checkpoint);
  EXPECT_EQ(numbers(), Numbers({1, 2}));
  // After one that has both.
  checkpoint = Journal(run_.journal()).offset();
  set_aside(run_, {"death", 4, {}});
  resume(checkpoint);
  EXPECT_EQ(numbers(), Numbers({1, 2, 3}));
  resume(Journal(run_.journal()).offset());
  EXPECT_EQ(numbers(), Numbers({1, 2, 3}));
}

TEST_F(Aside, ARunThatNeverDiedHasNone) {
  Journal(run_.journal()).append({"run", 1, {}});
  EXPECT_TRUE(missing_aside(run_).empty());
}

TEST_F(Aside, ARunIsTrainedByOneProcessAtATime) {
  {
    const RunLock lock(run_);
    const std::string said =
        tests::complaint([&] { const RunLock second(run_); });
    EXPECT_THAT(said, HasSubstr("is being trained already"));
    EXPECT_THAT(said, HasSubstr(cat("process ", ::getpid())));
    // It may have no terminal.
    EXPECT_THAT(said, HasSubstr(cat("kill ", ::getpid(), " or Ctrl-C")));
  }
  EXPECT_NO_THROW(RunLock{run_});
}

} // namespace
} // namespace temper::journal
