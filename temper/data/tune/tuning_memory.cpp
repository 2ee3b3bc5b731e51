#include "temper/data/tune/tuning_memory.h"

#include <nlohmann/json.hpp>

#include "temper/base/digest/hash.h"
#include "temper/base/error.h"
#include "temper/base/file/atomic_file.h"
#include "temper/base/file/file.h"
#include "temper/base/log.h"
#include "temper/base/text.h"

namespace temper::data {
namespace {

using Json = nlohmann::ordered_json; // keeps the order: the oldest comes first

constexpr std::size_t kMostTuningBytes = std::size_t{64} << 10;
constexpr std::size_t kMostTunings = 100;
constexpr int kMostOfEach = 256;

Json read_all(const std::filesystem::path& file) {
  const auto text = read_small_file(file, kMostTuningBytes);
  if (!text) return Json::object();
  Json json = Json::parse(*text, nullptr, false);
  return json.is_object() ? json : Json::object();
}

std::optional<int> remembered_number(const Json& entry, const char* name) {
  const auto found = entry.find(name);
  if (found == entry.end() || !found->is_number_integer()) return std::nullopt;
  const auto value = found->get<std::int64_t>();
  if (value < 1 || value > kMostOfEach) return std::nullopt;
  return static_cast<int>(value);
}

} // namespace

// Hashed: names may be paths, which are nobody else's business.
std::string TuningKey::text() const {
  Hasher hasher;
  hasher.add(std::string_view(machine));
  hasher.add(std::string_view(source));
  hasher.add(content);
  hasher.add(static_cast<std::uint64_t>(batch));
  hasher.add(augment_hash);
  hasher.add(sample_bytes);
  return cat(std::hex, hasher.value());
}

std::filesystem::path tuning_file(
    const std::filesystem::path& cache_directory) {
  return cache_directory / "loader.json";
}

bool forget_tunings(const std::filesystem::path& file) {
  std::error_code ignored;
  return std::filesystem::remove(file, ignored);
}

std::optional<Tuning> load_tuning(
    const std::filesystem::path& file,
    const TuningKey& key) {
  const Json all = read_all(file);
  const auto found = all.find(key.text());
  if (found == all.end() || !found->is_object()) return std::nullopt;
  const auto workers = remembered_number(*found, "workers");
  const auto depth = remembered_number(*found, "depth");
  if (!workers || !depth) return std::nullopt;
  return Tuning{*workers, *depth};
}

void save_tuning(
    const std::filesystem::path& file,
    const TuningKey& key,
    Tuning tuning) {
  Json all = read_all(file);
  all.erase(key.text());
  while (all.size() >= kMostTunings)
    all.erase(all.begin());
  all[key.text()] = {{"workers", tuning.workers}, {"depth", tuning.depth}};
  try {
    std::error_code ignored;
    std::filesystem::create_directories(file.parent_path(), ignored);
    write_file_atomically(file, all.dump(1) + "\n");
  } catch (const Error& error) {
    log::detail(cat("[data] tuning not remembered: ", error.what()));
  }
}

} // namespace temper::data
