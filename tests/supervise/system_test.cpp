#include "temper/supervise/system.h"

#include <gtest/gtest.h>

#include "temper/base/process/process.h"
#include "tests/temp_folder.h"

namespace temper::supervise {
namespace {

namespace fs = std::filesystem;

// A new build may be installed while a run goes on for days.
TEST(HeldProgram, IsTheSameWhenAnotherHasTakenItsPlace) {
  if (!fs::exists("/proc/self/fd")) GTEST_SKIP() << "no /proc";
  const tests::TempFolder folder;
  const fs::path program = folder / "program";
  fs::copy_file("/bin/true", program);
  const HeldProgram held(program);
  EXPECT_EQ(held.path(), program.string());
  EXPECT_EQ(run_process({held.path()}).code, 0);
  fs::copy_file("/bin/false", folder / "other");
  fs::rename(folder / "other", program);
  EXPECT_EQ(run_process({program.string()}).code, 1);
  EXPECT_EQ(run_process({held.path()}).code, 0);
  fs::remove(program);
  EXPECT_EQ(run_process({held.path()}).code, 0);
}

TEST(HeldProgram, ThatIsNotThereIsSaidByItsPath) {
  EXPECT_EQ(HeldProgram("/no/such/program").path(), "/no/such/program");
}

} // namespace
} // namespace temper::supervise
