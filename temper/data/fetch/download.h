// Fetches a file over HTTP: with progress, going on where a broken transfer
// stopped, checked against a pinned sum, and there under its name only when it
// is whole. Used by catalogue.h.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace temper::data {

struct Download {
  std::vector<std::string> urls; // mirrors, tried in turn; http or https
  std::filesystem::path file; // beside it grows "<file>.part"
  // 64 hexadecimal digits, or as many of the first as are known. Empty: not
  // checked, and then nothing that an earlier run left behind is continued.
  std::string sha256;
  std::uint64_t limit_bytes = std::uint64_t{4} << 30; // refused beyond
};

struct DownloadOptions {
  // Bytes there so far and in the end (0: the server does not say). Called
  // about once a second even when nothing arrives. What it throws ends the
  // download and comes out of download(); the part stays, to be continued.
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;
  // Failures in a row that bring no new byte, before a mirror is given up.
  int attempts = 5;
  std::chrono::milliseconds first_delay{500}; // doubled each time, up to 8 s
  std::function<void(std::chrono::milliseconds)> sleep; // empty: really sleeps
  std::chrono::milliseconds connect_timeout{15'000};
  std::chrono::milliseconds stall_timeout{30'000}; // without a byte
  int redirects = 5;
};

// Does nothing when the file is there with the right sum. Error when no mirror
// gives it (with what to do by hand), when it is too large, when the sum is
// wrong (nothing is left behind then), or when it cannot be written.
void download(const Download& what, const DownloadOptions& options);

// "sum of this file", read in pieces. Error when it cannot be read.
std::string sha256_of_file(const std::filesystem::path& file);

} // namespace temper::data
