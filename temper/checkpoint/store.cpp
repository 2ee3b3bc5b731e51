#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "temper/base/error.h"
#include "temper/base/file/atomic_file.h"
#include "temper/base/file/file.h"
#include "temper/base/file/sync.h"
#include "temper/base/log.h"
#include "temper/base/text.h"
#include "temper/checkpoint/checkpoint.h"
#include "temper/checkpoint/names.h"
#include "temper/checkpoint/retention.h"
#include "temper/checkpoint/snapshot_files.h"

namespace temper::checkpoint {
namespace {

namespace fs = std::filesystem;

// The age given to unreadable snapshots, so that they are tried first, and
// passed over with a warning.
constexpr Age kNewest{std::numeric_limits<std::uint64_t>::max(), 0};

std::optional<std::int64_t> named_by(const fs::path& pointer) {
  const auto text = read_small_file(pointer, 4096);
  return text ? update_of(std::string(trim(*text))) : std::nullopt;
}

[[noreturn]] void
refuse(const char* what, const fs::path& place, const std::error_code& why) {
  throw Error(
      cat("[checkpoint] cannot ",
          what,
          " ",
          place.string(),
          ": ",
          why.message(),
          "."),
      "Make room, or choose another place with run.dir.");
}

void make_folder(const fs::path& folder) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) refuse("make", folder, failed);
}

void give_name(const fs::path& from, const fs::path& to) {
  std::error_code failed;
  fs::rename(from, to, failed);
  if (failed) refuse("name", to, failed);
}

void sync_names(const fs::path& folder) {
  if (!sync_directory(folder))
    throw Error(
        cat("[checkpoint] cannot sync ", folder.string(), "."),
        "Is the disk full or failing?");
}

// The folder's own name and its run's, which nobody may have synced yet.
void sync_way_to(const fs::path& folder) {
  const fs::path run = fs::absolute(folder).parent_path();
  sync_names(run);
  sync_names(run.parent_path());
}

bool is_good(const fs::path& folder) {
  try {
    read_snapshot(folder);
    return true;
  } catch (const Error&) {
    return false;
  }
}

// Under another name first: half a snapshot must not look like one.
void take_away(const fs::path& folder, std::int64_t update) {
  const fs::path leaving = folder.parent_path() / leaving_name(update);
  std::error_code failed;
  fs::remove_all(leaving, failed);
  fs::rename(folder, leaving, failed);
  fs::remove_all(failed ? folder : leaving, failed);
}

} // namespace

Store::Store(fs::path folder, Retention keep)
    : folder_(std::move(folder)), keep_(keep) {}

std::vector<std::int64_t> Store::list() const {
  std::set<std::int64_t> updates;
  for (const std::string& name : names_in(folder_)) {
    if (const auto update = update_of(name)) updates.insert(*update);
    if (const auto update = earlier_update_of(name)) updates.insert(*update);
  }
  std::vector<std::pair<Age, std::int64_t>> by_age;
  for (const std::int64_t update : updates) {
    auto age = age_of(folder_ / folder_name(update));
    if (!age) age = age_of(folder_ / earlier_name(update));
    by_age.emplace_back(age.value_or(kNewest), update);
  }
  std::sort(by_age.begin(), by_age.end());
  std::vector<std::int64_t> sorted;
  for (const auto& [age, update] : by_age)
    sorted.push_back(update);
  return sorted;
}

std::uint64_t Store::next_number() {
  if (last_number_ == 0)
    for (const std::string& name : names_in(folder_))
      if (update_of(name) || earlier_update_of(name))
        last_number_ = std::max(
            last_number_, age_of(folder_ / name).value_or(Age{}).number);
  return ++last_number_;
}

void Store::save(const Snapshot& snapshot) {
  make_folder(folder_);
  if (known_.empty()) sync_way_to(folder_);
  settle();
  const fs::path building = folder_ / building_name(snapshot.update);
  try {
    make_folder(building);
    write_snapshot(snapshot, next_number(), building);
    publish(snapshot.update);
  } catch (...) {
    // A useless folder only takes room, which may be what is missing.
    std::error_code ignored;
    fs::remove_all(building, ignored);
    const fs::path place = folder_ / folder_name(snapshot.update);
    if (!fs::exists(place))
      fs::rename(folder_ / earlier_name(snapshot.update), place, ignored);
    throw;
  }
  known_[snapshot.update] = {true, snapshot.score};
  point_to(snapshot);
  remove_old();
}

void Store::recover(const Snapshot& newest) {
  try {
    settle();
    known_[newest.update] = {true, newest.score};
    point_to(newest);
  } catch (const Error& error) {
    log::warn(
        cat(error.what(),
            " What an interruption left in the checkpoints stays until the "
            "next one is saved."));
  }
}

// The last act of a save, which an interruption can leave out.
void Store::point_to(const Snapshot& newest) const {
  const std::string name = folder_name(newest.update) + "\n";
  const auto write = [&](const char* pointer) {
    if (read_small_file(folder_ / pointer, 4096) != name)
      write_file_atomically(folder_ / pointer, name);
  };
  write("latest");
  if (newest.best) write("best");
}

// Clears away what a crash left: half of something, or two of the same update.
void Store::settle() {
  std::error_code ignored;
  for (const std::string& name : names_in(folder_)) {
    if (is_debris(name)) fs::remove_all(folder_ / name, ignored);
    const auto update = earlier_update_of(name);
    if (!update) continue;
    const fs::path place = folder_ / folder_name(*update);
    if (is_good(place)) {
      take_away(folder_ / name, *update);
    } else {
      take_away(place, *update);
      give_name(folder_ / name, place);
      sync_names(folder_);
    }
  }
}

// From its building place to its name. One of the same update, as after a
// resume, steps aside and goes only when the new name is on disk.
void Store::publish(std::int64_t update) {
  const fs::path final_place = folder_ / folder_name(update);
  const fs::path earlier = folder_ / earlier_name(update);
  const bool again = fs::exists(final_place);
  if (again) give_name(final_place, earlier);
  give_name(folder_ / building_name(update), final_place);
  sync_names(folder_);
  if (again) take_away(earlier, update);
}

const Store::Known& Store::known(std::int64_t update) {
  const auto found = known_.find(update);
  if (found != known_.end()) return found->second;
  Known& about = known_[update];
  try {
    about.score = read_snapshot(folder_ / folder_name(update)).score;
    about.good = true;
  } catch (const Error& error) {
    log::warn(error.what());
  }
  return about;
}

void Store::remove_old() {
  std::vector<Candidate> all;
  for (const std::int64_t update : list()) {
    const Known& about = known(update);
    all.push_back({update, about.good, about.score});
  }
  for (const std::int64_t update :
       to_remove(all, keep_, named_by(folder_ / "best"))) {
    take_away(folder_ / folder_name(update), update);
    known_.erase(update);
  }
}

std::optional<Snapshot> Store::load_latest() const {
  auto updates = list();
  for (; !updates.empty(); updates.pop_back())
    for (const std::string& name :
         {folder_name(updates.back()), earlier_name(updates.back())}) {
      if (!fs::exists(folder_ / name)) continue;
      try {
        return read_snapshot(folder_ / name);
      } catch (const Error& error) {
        log::warn(cat(error.what(), " The one before it is tried."));
      }
    }
  return std::nullopt;
}

std::optional<Snapshot> Store::load_best() const {
  const auto best = named_by(folder_ / "best");
  if (!best) return std::nullopt;
  const fs::path place = folder_ / folder_name(*best);
  return read_snapshot(
      fs::exists(place) ? place : folder_ / earlier_name(*best));
}

} // namespace temper::checkpoint
