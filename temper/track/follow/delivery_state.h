// The memory of a follower between two deliveries, in a small file of the run
// directory: how far into the journal it is, and what the tracker calls the
// run. Written after a delivery, durable or absent.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "temper/track/follow/translate.h"

namespace temper::track {

struct FollowState {
  std::string where; // for people
  std::string key; // of RunFacts
  std::string memory; // the tracker's own
  std::string run_id; // what MLflow calls the run; empty: it has no name yet
  std::uint64_t offset = 0; // into the journal
  // The hash of the bytes before it: when they are others, the journal was cut.
  std::uint64_t fingerprint = 0;
  bool ended = false; // the last status delivered is not "running"
  std::int64_t points = 0; // delivered
  Marks marks;

  std::string to_json() const;
  static FollowState from_json(const std::string& text); // Error if malformed
};

// The state in a file; no value when there is none. A damaged one is an Error:
// going on without it would deliver everything once more.
std::optional<FollowState> read_follow_state(const std::filesystem::path& file);

// The hash of at most the last 4 KiB before `offset`; no value when the file is
// shorter.
std::optional<std::uint64_t> fingerprint_before(
    const std::filesystem::path& file,
    std::uint64_t offset);

// Whole lines behind it.
std::int64_t lines_after(
    const std::filesystem::path& file,
    std::uint64_t offset);

// 32 random hexadecimal digits.
std::string random_key();

} // namespace temper::track
