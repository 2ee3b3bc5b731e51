#include "temper/journal/events.h"

#include <gtest/gtest.h>

namespace temper::journal {
namespace {

TEST(Events, AnArtifactIsCalledByItsPathBelowTheFolder) {
  EXPECT_EQ(
      to_line(artifact_event("artifacts/trace.json", 7)),
      R"({"event":"artifact","time":0.0,"path":"artifacts/trace.json",)"
      R"("name":"trace.json","update":7})");
  EXPECT_EQ(artifact_event("config.toml", 0).text("name"), "config.toml");
}

TEST(Events, AFailedEndHasItsUpdatesWhereTheyAreKnown) {
  EXPECT_EQ(
      to_line(failed_event("no disk")),
      R"({"event":"end","time":0.0,"status":"failed","why":"no disk"})");
  EXPECT_EQ(failed_event("no disk", 3).count("updates"), 3);
}

} // namespace
} // namespace temper::journal
