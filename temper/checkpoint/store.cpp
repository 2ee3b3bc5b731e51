#include <algorithm>
#include <nlohmann/json.hpp>

#include "temper/base/atomic_file.h"
#include "temper/base/error.h"
#include "temper/base/file.h"
#include "temper/base/hash.h"
#include "temper/base/log.h"
#include "temper/base/sync.h"
#include "temper/base/text.h"
#include "temper/checkpoint/checkpoint.h"
#include "temper/model/safetensors.h"

namespace temper::checkpoint {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int kFormat = 1;
constexpr const char* kTensors = "state.safetensors";
constexpr const char* kCounters = "state.json";
constexpr std::size_t kLongestCounters = std::size_t{16} << 20;

std::string folder_name(std::int64_t update) {
  return cat("step-", update);
}

// The update of "step-1200"; nothing for any other name.
std::optional<std::int64_t> update_of(const std::string& name) {
  if (!starts_with(name, "step-")) return std::nullopt;
  const auto number = parse_int(std::string_view(name).substr(5));
  return number && *number >= 0 ? number : std::nullopt;
}

// Names, types, shapes and bytes of all of them.
std::uint64_t sum_of(const graph::Weights& tensors) {
  Hasher hasher;
  for (const auto& [name, tensor] : tensors) {
    hasher.add(name);
    hasher.add(static_cast<std::uint64_t>(tensor.dtype));
    for (const std::int64_t size : tensor.sizes)
      hasher.add(static_cast<std::uint64_t>(size));
    hasher.add(tensor.byte_count);
    hasher.add(tensor.bytes.get(), tensor.byte_count);
  }
  return hasher.value();
}

std::uint64_t sum_of(const json& counters) {
  return hash64(counters.dump());
}

json counters_of(const Snapshot& snapshot) {
  return {
      {"format", kFormat},
      {"update", snapshot.update},
      {"epoch", snapshot.epoch},
      {"loader", snapshot.loader},
      {"journal_offset", snapshot.journal_offset},
      {"loop", snapshot.loop},
      {"writer", snapshot.writer},
      {"tensors", sum_of(snapshot.tensors)}};
}

[[noreturn]] void damaged(const fs::path& folder, const std::string& why) {
  throw Error(
      cat("[checkpoint] ", folder.string(), " cannot be used: ", why, "."));
}

Snapshot read(const fs::path& folder) {
  const auto text = read_small_file(folder / kCounters, kLongestCounters);
  if (!text) damaged(folder, "state.json is missing");
  const json file = json::parse(*text, nullptr, false);
  if (!file.is_object() || !file.contains("counters") || !file.contains("sum"))
    damaged(folder, "state.json is damaged");
  try {
    const json& counters = file.at("counters");
    if (const int format = counters.at("format"); format > kFormat)
      damaged(
          folder,
          cat("a newer temper wrote it (format ",
              format,
              ", this one reads ",
              kFormat,
              ")"));
    if (file.at("sum").get<std::uint64_t>() != sum_of(counters))
      damaged(folder, "state.json has another checksum");
    Snapshot made;
    made.update = counters.at("update");
    made.epoch = counters.at("epoch");
    made.loader = counters.at("loader");
    made.journal_offset = counters.at("journal_offset");
    made.loop = counters.at("loop");
    made.writer = counters.at("writer");
    made.tensors = model::read_safetensors(folder / kTensors);
    if (sum_of(made.tensors) != counters.at("tensors").get<std::uint64_t>())
      damaged(folder, "state.safetensors has another checksum");
    return made;
  } catch (const json::exception&) {
    damaged(folder, "state.json is damaged");
  }
}

std::optional<std::int64_t> named_by(const fs::path& pointer) {
  const auto text = read_small_file(pointer);
  return text ? update_of(std::string(trim(*text))) : std::nullopt;
}

} // namespace

Store::Store(fs::path folder, int keep_last)
    : folder_(std::move(folder)), keep_last_(std::max(keep_last, 2)) {}

std::vector<std::int64_t> Store::list() const {
  std::vector<std::int64_t> updates;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(folder_, failed))
    if (const auto update = update_of(entry.path().filename().string()))
      updates.push_back(*update);
  std::sort(updates.begin(), updates.end());
  return updates;
}

void Store::save(const Snapshot& snapshot, bool best) {
  const fs::path final_place = folder_ / folder_name(snapshot.update);
  const fs::path building = folder_ / cat(".", folder_name(snapshot.update));
  std::error_code failed;
  fs::remove_all(building, failed);
  fs::create_directories(building, failed);
  if (failed)
    throw Error(
        cat("[checkpoint] cannot make ",
            building.string(),
            ": ",
            failed.message(),
            "."),
        "Make room, or choose another place with run.dir.");
  model::write_safetensors(snapshot.tensors, building / kTensors);
  const json counters = counters_of(snapshot);
  write_file_atomically(
      building / kCounters,
      json{{"sum", sum_of(counters)}, {"counters", counters}}.dump(1) + "\n");
  sync_directory(building);
  // What the disk holds, not what was meant to be on it.
  read(building);
  // The same update again, as after a resume: the new one takes its place.
  fs::remove_all(final_place, failed);
  fs::rename(building, final_place, failed);
  if (failed)
    throw Error(
        cat("[checkpoint] cannot name ",
            final_place.string(),
            ": ",
            failed.message(),
            "."));
  sync_directory(folder_);
  write_file_atomically(
      folder_ / "latest", folder_name(snapshot.update) + "\n");
  if (best)
    write_file_atomically(
        folder_ / "best", folder_name(snapshot.update) + "\n");
  remove_old();
}

// The last ones and the best stay; half-built ones of a crash go.
void Store::remove_old() const {
  const auto updates = list();
  const auto best = named_by(folder_ / "best");
  std::error_code failed;
  for (std::size_t i = 0; i + keep_last_ < updates.size(); ++i)
    if (updates[i] != best)
      fs::remove_all(folder_ / folder_name(updates[i]), failed);
  for (const auto& entry : fs::directory_iterator(folder_, failed))
    if (starts_with(entry.path().filename().string(), ".step-"))
      fs::remove_all(entry.path(), failed);
}

std::optional<Snapshot> Store::load_latest() const {
  auto updates = list();
  for (; !updates.empty(); updates.pop_back()) {
    try {
      return read(folder_ / folder_name(updates.back()));
    } catch (const Error& error) {
      log::warn(cat(error.what(), " The one before it is tried."));
    }
  }
  return std::nullopt;
}

std::optional<Snapshot> Store::load_best() const {
  const auto best = named_by(folder_ / "best");
  if (!best) return std::nullopt;
  return read(folder_ / folder_name(*best));
}

} // namespace temper::checkpoint
