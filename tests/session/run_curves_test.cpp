#include "temper/session/run_curves.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "tests/temp_folder.h"

namespace temper::session {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class RunCurves : public ::testing::Test {
 protected:
  void write(const std::string& line) {
    std::ofstream(run_.journal(), std::ios::app) << line << "\n";
  }
  void begin(int updates_per_epoch) {
    write(
        R"({"event":"run","time":1,"plan":{"updates_per_epoch":)" +
        std::to_string(updates_per_epoch) + "}}");
  }

  tests::TempFolder folder_;
  journal::RunDirectory run_{folder_.path()};
};

TEST_F(RunCurves, HaveLossAccuracyAndRateOverEpochs) {
  begin(4);
  write(R"({"event":"step","time":2,"step":2,"loss":3.5,"lr":0.1})");
  write(R"({"event":"epoch","time":3,"update":4,"train_loss":3,"val_loss":2.5,)"
        R"("train_accuracy":0.25,"val_accuracy":0.5})");
  const auto charts = run_curves(run_);
  ASSERT_THAT(charts, SizeIs(3));
  EXPECT_EQ(charts[0].title, "Loss");
  EXPECT_EQ(charts[0].x_label, "epoch");
  ASSERT_THAT(charts[0].series, SizeIs(3));
  EXPECT_THAT(charts[0].series[0].x, ElementsAre(0.5));
  EXPECT_THAT(charts[0].series[2].y, ElementsAre(2.5));
  EXPECT_EQ(charts[1].title, "Accuracy");
  EXPECT_THAT(charts[1].series[1].x, ElementsAre(1.0));
  EXPECT_THAT(charts[1].series[1].y, ElementsAre(50.0));
  EXPECT_THAT(charts[2].series[0].y, ElementsAre(0.1));
}

TEST_F(RunCurves, ShowARegressionByWhatItExplains) {
  begin(0);
  write(R"({"event":"step","time":2,"step":7,"loss":"NaN","lr":0.1})");
  write(
      R"({"event":"epoch","time":3,"update":9,"train_loss":3,"train_r2":0.7})");
  const auto charts = run_curves(run_);
  ASSERT_THAT(charts, SizeIs(3));
  EXPECT_EQ(charts[1].title, "R²");
  EXPECT_EQ(charts[1].x_label, "update"); // the length of an epoch is not known
  EXPECT_THAT(charts[1].series, SizeIs(1)); // nothing was validated
  EXPECT_TRUE(std::isnan(charts[0].series[0].y.at(0)));
}

TEST_F(RunCurves, AreNoneBeforeTheFirstUpdate) {
  EXPECT_THAT(run_curves(run_), IsEmpty());
  begin(4);
  EXPECT_THAT(run_curves(run_), IsEmpty());
}

TEST_F(RunCurves, HaveAsManyPointsAsCanBeSeen) {
  begin(1000);
  for (int i = 1; i <= 5000; ++i)
    write(
        R"({"event":"step","time":2,"loss":1,"lr":0.1,"step":)" +
        std::to_string(i) + "}");
  const auto charts = run_curves(run_);
  EXPECT_LE(charts.at(0).series.at(0).x.size(), 2001U);
  EXPECT_DOUBLE_EQ(charts.at(0).series.at(0).x.back(), 5.0);
}

} // namespace
} // namespace temper::session
