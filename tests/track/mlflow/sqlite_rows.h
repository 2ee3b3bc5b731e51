// Asks an SQLite file with the sqlite3 program, a reader that is not ours.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "temper/base/process/process.h"
#include "temper/base/text.h"

namespace temper::track {

inline bool has_sqlite3() {
  return run_process({"sqlite3", "-version"}).succeeded();
}

// One line a row, columns with | between them.
inline std::vector<std::string> rows(
    const std::filesystem::path& file,
    const std::string& sql) {
  const auto result =
      run_process({"sqlite3", "-cmd", ".timeout 20000", file.string(), sql});
  EXPECT_TRUE(result.succeeded()) << sql << ": " << result.err;
  std::vector<std::string> lines = split(result.out, '\n');
  if (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

inline std::string row(
    const std::filesystem::path& file,
    const std::string& sql) {
  const auto all = rows(file, sql);
  EXPECT_EQ(all.size(), 1U) << sql;
  return all.empty() ? "" : all[0];
}

} // namespace temper::track
