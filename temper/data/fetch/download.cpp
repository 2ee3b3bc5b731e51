#include "temper/data/fetch/download.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <system_error>
#include <thread>

#include "temper/base/digest/sha256.h"
#include "temper/base/error.h"
#include "temper/base/file/sync.h"
#include "temper/base/log.h"
#include "temper/base/process/spawn.h"
#include "temper/base/text.h"
#include "temper/data/fetch/transfer.h"

namespace temper::data {
namespace {

namespace fs = std::filesystem;
using Milliseconds = std::chrono::milliseconds;

// A server that cuts every connection after a few bytes ends some time, too.
constexpr int kMostRequests = 200;

[[noreturn]] void cannot_write(const fs::path& file, const std::string& why) {
  throw Error(
      cat("[data] cannot write ", file.string(), ": ", why, "."),
      "Free some space, or choose another folder.");
}

// The part, open and ours alone.
Descriptor open_part(const fs::path& part) {
  Descriptor file(::open(part.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!file.open()) cannot_write(part, std::strerror(errno));
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0)
    throw Error(
        cat("[data] ", part.string(), " is being written by somebody else."),
        "Another temper downloads the same file: let it finish.");
  return file;
}

std::uint64_t size_of(const Descriptor& file) {
  const off_t end = ::lseek(file.get(), 0, SEEK_END);
  return end < 0 ? 0 : static_cast<std::uint64_t>(end);
}

// In slices, so that the caller may cancel.
void wait(
    Milliseconds delay,
    std::uint64_t done,
    const DownloadOptions& options) {
  if (options.sleep) {
    options.sleep(delay);
    return;
  }
  constexpr Milliseconds kSlice{100};
  while (delay.count() > 0) {
    std::this_thread::sleep_for(std::min(kSlice, delay));
    delay -= kSlice;
    if (options.progress) options.progress(done, 0);
  }
}

// From one mirror, with all its retries; why it failed, or nothing.
std::optional<std::string> fetch_from(
    const std::string& url,
    const Download& what,
    const Descriptor& part,
    const DownloadOptions& options) {
  constexpr Milliseconds kLongestDelay{8000};
  int failures = 0;
  std::uint64_t most = size_of(part);
  Milliseconds delay = options.first_delay;
  for (int request = 0; request < kMostRequests; ++request) {
    const auto result =
        transfer(url, part.get(), size_of(part), what.limit_bytes, options);
    switch (result.end) {
      case Transfer::End::whole:
        return std::nullopt;
      case Transfer::End::hopeless:
        return result.why;
      case Transfer::End::disk:
        cannot_write(what.file, result.why);
      case Transfer::End::too_large:
        throw Error(
            cat("[data] will not download ", url, ": ", result.why, "."),
            "This is not the file it should be; see where the address leads.");
      case Transfer::End::try_again:
        break;
    }
    if (result.size > most) { // further than ever
      most = result.size;
      failures = 0;
      delay = options.first_delay;
    }
    if (++failures >= options.attempts) return result.why;
    log::detail(cat(url, ": ", result.why, "; trying again"));
    wait(delay, result.size, options);
    delay = std::min(delay * 2, kLongestDelay);
  }
  return cat("not whole after ", kMostRequests, " connections");
}

// Whether more than one mirror had a hand in it.
bool fetch(
    const Download& what,
    const Descriptor& part,
    const DownloadOptions& options) {
  std::vector<std::string> failures;
  bool mixed = false;
  for (const auto& url : what.urls) {
    const auto why = fetch_from(url, what, part, options);
    if (!why) return mixed;
    failures.push_back(cat(url, ": ", *why));
    mixed = mixed || size_of(part) > 0;
  }
  throw Error(
      cat("[data] cannot download ", join(failures, "; "), "."),
      cat("With no network here, fetch it elsewhere and put it at ",
          what.file.string(),
          ", then run this again."));
}

std::string sum_of(int descriptor, const fs::path& name) {
  Sha256 sum;
  std::array<char, 1 << 16> buffer;
  for (off_t at = 0;;) {
    const ssize_t got = ::pread(descriptor, buffer.data(), buffer.size(), at);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0)
      throw Error(cat(
          "[data] cannot read ", name.string(), ": ", std::strerror(errno)));
    if (got == 0) return sum.hex();
    sum.add(buffer.data(), static_cast<std::size_t>(got));
    at += got;
  }
}

void put_in_place(
    const Descriptor& part,
    const fs::path& part_path,
    const fs::path& file) {
  if (!sync_file(part.get())) cannot_write(file, std::strerror(errno));
  if (::rename(part_path.c_str(), file.c_str()) != 0)
    cannot_write(file, std::strerror(errno));
  sync_directory(file.parent_path());
}

} // namespace

std::string sha256_of_file(const fs::path& file) {
  const Descriptor in(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!in.open())
    throw Error(
        cat("[data] cannot read ", file.string(), ": ", std::strerror(errno)));
  return sum_of(in.get(), file);
}

void download(const Download& what, const DownloadOptions& options) {
  if (fs::exists(what.file) &&
      (what.sha256.empty() ||
       sha256_of_file(what.file).starts_with(what.sha256)))
    return;
  std::error_code failed;
  fs::create_directories(what.file.parent_path(), failed);
  if (failed) cannot_write(what.file.parent_path(), failed.message());

  const fs::path part_path = what.file.string() + ".part";
  const Descriptor part = open_part(part_path);
  bool continued = size_of(part) > 0;
  if (continued && what.sha256.empty()) {
    if (::ftruncate(part.get(), 0) != 0)
      cannot_write(part_path, std::strerror(errno));
    continued = false;
  }
  for (bool last = false;; last = true) {
    const bool mixed = fetch(what, part, options);
    const std::string sum =
        what.sha256.empty() ? "" : sum_of(part.get(), part_path);
    if (sum.starts_with(what.sha256)) break;
    if (last || (!continued && !mixed)) {
      ::unlink(part_path.c_str());
      throw Error(
          cat("[data] ",
              join(what.urls, " or "),
              " gave another file than expected: its SHA-256 is ",
              sum,
              ", not ",
              what.sha256,
              "."),
          "It was removed. Try again later, or from another network: a proxy "
          "or a changed server may be in between.");
    }
    // The old part may have been of another file: once more, all of it.
    log::detail(cat(part_path.string(), " did not fit; starting again"));
    if (::ftruncate(part.get(), 0) != 0)
      cannot_write(part_path, std::strerror(errno));
  }
  put_in_place(part, part_path, what.file);
}

} // namespace temper::data
