// The run's append-only record, journal.jsonl: the one truth that console,
// trackers and dashboard follow. Whole lines only: an event is one write, and a
// part of a line that a crash left behind is cut off before the next.
#pragma once

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <string>
#include <vector>

#include "temper/journal/event.h"

namespace temper::journal {

// Written by one thread of one process; another may sync it.
class Journal {
 public:
  // Opens it for appending, made if it is not there.
  explicit Journal(std::filesystem::path path);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  // An event without a time gets the present one. When the disk does not take
  // it, it is held in memory with a warning and written as soon as it can be: a
  // full disk ends no run. Error when too much is held.
  void append(Event event);
  // After this, what was appended survives a power cut. Error when it does not.
  void sync();
  // Where the next event begins: a checkpoint keeps it.
  std::uint64_t offset() const;
  // Where the last whole line before `offset` ends: there, in a journal that
  // nobody has damaged.
  std::uint64_t line_end(std::uint64_t offset) const;
  // Drops what was written after the checkpoint that a run goes on from, so
  // that no point is in it twice. Error when `offset` is no end of a line.
  void truncate(std::uint64_t offset);

 private:
  int write_held();

  std::filesystem::path path_;
  int descriptor_ = -1;
  mutable std::mutex mutex_;
  std::uint64_t offset_ = 0; // of what is in the file
  std::string held_; // lines that are not
};

// Reads what is new, in whole lines; for as many readers as there are.
class Follower {
 public:
  explicit Follower(std::filesystem::path path, std::uint64_t offset = 0);

  // The next events, at most `most` of them; none when there is nothing new.
  // A line that is no event is passed over and counted.
  std::vector<Event> read(std::size_t most = 10'000);
  // Where it is, to go on from later.
  std::uint64_t offset() const {
    return offset_;
  }
  std::int64_t unreadable() const {
    return unreadable_;
  }

 private:
  std::filesystem::path path_;
  std::uint64_t offset_;
  std::int64_t unreadable_ = 0;
};

// All of it.
std::vector<Event> read_journal(const std::filesystem::path& path);

} // namespace temper::journal
