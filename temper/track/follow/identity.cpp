#include "temper/track/follow/identity.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>

#include "temper/base/digest/hash.h"
#include "temper/base/text.h"
#include "temper/journal/event_fields.h"
#include "temper/journal/event_kinds.h"
#include "temper/journal/journal.h"
#include "temper/track/follow/delivery_state.h"

namespace temper::track {
namespace {

namespace fs = std::filesystem;
namespace kinds = journal::kinds;
namespace fields = journal::fields;

constexpr std::size_t kIdDigits = 32;

std::string host() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

struct KnownPlace {
  fs::path file;
  FollowState state;
};

// The memory of each place that a run is delivered to.
std::vector<KnownPlace> places_in(const fs::path& directory) {
  std::vector<KnownPlace> places;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(directory, failed)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("track-") || entry.path().extension() != ".json")
      continue;
    try {
      if (auto read = read_follow_state(entry.path()))
        places.push_back({entry.path(), *std::move(read)});
    } catch (const Error&) { // whoever delivers there says so
    }
  }
  return places;
}

// A folder or file of this machine that is no more.
bool is_gone(const std::string& where) {
  std::error_code failed;
  for (const std::string scheme : {"sqlite:///", "file://"})
    if (where.starts_with(scheme))
      return !fs::exists(where.substr(scheme.size()), failed) && !failed;
  return false;
}

bool has_id(const fs::path& directory, const std::string& id) {
  const journal::RunDirectory run{directory};
  const auto first = journal::Follower(run.journal()).read(1);
  return !first.empty() && first[0].kind == kinds::kRun &&
      identity_of(first[0], run) == id;
}

bool delivers(
    const fs::path& directory,
    const std::string& where,
    const std::string& run_id) {
  return std::ranges::any_of(
      places_in(directory), [&](const KnownPlace& place) {
        return place.state.where == where && place.state.run_id == run_id;
      });
}

} // namespace

std::string identity_of(
    const journal::Event& run,
    const journal::RunDirectory& directory) {
  const std::string id = run.text(fields::kId).value_or("");
  if (id.size() == kIdDigits &&
      id.find_first_not_of("0123456789abcdef") == std::string::npos)
    return id;
  std::ifstream in(directory.journal(), std::ios::binary);
  std::string line;
  std::getline(in, line);
  return hex_text(hash64(line)) + hex_text(hash64(line + "\n"));
}

std::string place_of(const fs::path& directory) {
  std::error_code failed;
  fs::path absolute = fs::weakly_canonical(directory, failed);
  if (failed) absolute = fs::absolute(directory).lexically_normal();
  return cat(host(), ":", absolute.string());
}

std::vector<std::pair<std::string, std::string>> known_names(
    const journal::RunDirectory& directory,
    const std::string& id) {
  std::vector<std::pair<std::string, std::string>> names{{id, ""}};
  for (const auto& [file, state] : places_in(directory.path))
    names.emplace_back(state.key, state.memory);
  return names;
}

std::string other_place_of(
    const StoredRun& stored,
    const RunFacts& facts,
    const Marks& marks,
    const std::string& where,
    const journal::RunDirectory& directory) {
  if (stored.place.empty() || stored.place == place_of(directory.path))
    return "";
  const auto colon = stored.place.find(':');
  const std::string there = stored.place.substr(0, colon);
  const fs::path other =
      colon == std::string::npos ? "" : stored.place.substr(colon + 1);
  if (there != host()) {
    Marks known = marks;
    return known.tracker_has(stored.metrics) ? stored.place : "";
  }
  std::error_code failed;
  if (!fs::exists(other, failed) ||
      fs::equivalent(other, directory.path, failed))
    return "";
  return has_id(other, facts.id) && delivers(other, where, stored.id)
      ? other.string()
      : "";
}

void forget_moved_places(
    const journal::RunDirectory& directory,
    const std::string& run_id) {
  std::error_code failed;
  for (const auto& [file, state] : places_in(directory.path))
    if (state.run_id == run_id && is_gone(state.where))
      fs::remove(file, failed);
}

void call_a_copy(RunFacts& facts, const std::string& original) {
  facts.name += " (copy)";
  for (Pair& tag : facts.tags)
    if (tag.key == "mlflow.runName") tag.value = facts.name;
  facts.tags.push_back({"temper.copy_of", original});
}

} // namespace temper::track
