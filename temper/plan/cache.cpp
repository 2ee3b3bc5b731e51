#include "temper/plan/cache.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "temper/base/clock.h"
#include "temper/base/digest/hash.h"
#include "temper/base/error.h"
#include "temper/base/file/atomic_file.h"
#include "temper/base/file/file.h"
#include "temper/base/log.h"
#include "temper/base/text.h"

namespace temper::plan {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::size_t kMostBytes = std::size_t{1} << 20;
constexpr std::size_t kKeyDigits = 16;

// Ours by their names: nothing else in the folder is read or removed.
bool is_plan_file(const fs::path& path) {
  const std::string stem = path.stem().string();
  return path.extension() == ".json" && stem.size() == kKeyDigits &&
      stem.find_first_not_of("0123456789abcdef") == std::string::npos;
}

std::vector<fs::path> plan_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error))
    if (is_plan_file(it->path())) files.push_back(it->path());
  std::sort(files.begin(), files.end());
  return files;
}

RememberedPlan read_entry(const std::string& text) {
  const Json all = Json::parse(text);
  RememberedPlan entry;
  entry.model = all.at("model").get<std::string>();
  entry.batch = all.at("batch").get<std::int64_t>();
  entry.input_shape = all.at("input_shape").get<std::string>();
  entry.libtorch = all.at("libtorch").get<std::string>();
  entry.saved_s = all.at("saved_s").get<double>();
  entry.plan = plan_from_json(all.at("plan").dump());
  return entry;
}

std::optional<RememberedPlan> read_file(const fs::path& file) {
  const auto text = read_small_file(file, kMostBytes);
  if (!text) return std::nullopt;
  std::string why;
  try {
    RememberedPlan entry = read_entry(*text);
    entry.key = file.stem().string();
    return entry;
  } catch (const Json::exception& error) {
    why = error.what();
  } catch (const Error& error) {
    why = error.what();
  }
  log::warn(
      cat("[plan] the remembered plan ",
          file.string(),
          " is damaged and is ignored: ",
          why));
  return std::nullopt;
}

bool worth_remembering(const Plan& plan) {
  return plan.chosen() != nullptr;
}

// Why it is measured again; empty: it may be used.
std::string
too_old(const RememberedPlan& entry, double now_s, double max_age_days) {
  constexpr double kDay_s = 86'400;
  const Tried* chosen = entry.plan.chosen();
  if (!chosen || !chosen->spread) return "it does not say how noisy it is";
  const double age_s = now_s - entry.saved_s;
  if (age_s < -kDay_s) return "it comes from the future";
  if (max_age_days > 0 && age_s > max_age_days * kDay_s)
    return cat("it is ", decimals(age_s / kDay_s, 0), " days old");
  return "";
}

// Makes room for one more.
void remove_oldest(const fs::path& folder, std::size_t most) {
  std::vector<std::pair<fs::file_time_type, fs::path>> files;
  for (const fs::path& file : plan_files(folder)) {
    std::error_code ignored;
    files.emplace_back(fs::last_write_time(file, ignored), file);
  }
  if (files.size() < most) return;
  std::sort(files.begin(), files.end());
  for (std::size_t i = 0; i + most <= files.size(); ++i) {
    std::error_code ignored;
    fs::remove(files[i].second, ignored);
  }
}

} // namespace

std::string PlanKey::text() const {
  Hasher hasher;
  hasher.add(std::string_view(machine));
  hasher.add(std::string_view(libtorch));
  hasher.add(std::string_view(temper));
  hasher.add(model_hash);
  hasher.add(static_cast<std::uint64_t>(batch));
  hasher.add(std::string_view(numbers_text(input_shape, "x")));
  hasher.add(std::string_view(requests.device));
  const auto add_word = [&](const auto& choice) {
    hasher.add(std::string_view(choice ? to_text(*choice) : "auto"));
  };
  add_word(requests.layout);
  add_word(requests.kernels);
  add_word(requests.precision);
  hasher.add(static_cast<std::uint64_t>(requests.threads.value_or(0)));
  return hex_text(hasher.value());
}

std::string machine_fingerprint(const machine::Machine& machine) {
  std::string text =
      cat(machine.platform.os,
          " ",
          machine.platform.version,
          "; ",
          machine.cpu.model,
          " ",
          machine.cpu.arch,
          " ",
          machine.cpu.performance,
          "+",
          machine.cpu.efficiency,
          " cores, ",
          machine.cpu.usable,
          " usable; ",
          machine.memory.usable_bytes() >> 20,
          " MiB");
  for (const auto& gpu : machine.gpus)
    text += cat("; ", gpu.model, " ", gpu.cores, " ", gpu.memory_bytes >> 20);
  return text;
}

PlanCache::PlanCache(
    fs::path folder,
    std::size_t most,
    std::function<double()> now)
    : folder_(std::move(folder)),
      most_(most),
      now_(now ? std::move(now) : seconds_since_1970) {}

std::optional<Plan> PlanCache::recall(
    const PlanKey& key,
    const Candidates& candidates,
    double max_age_days) const {
  if (folder_.empty()) return std::nullopt;
  auto entry = read_file(folder_ / (key.text() + ".json"));
  if (!entry) return std::nullopt;
  if (const auto why = too_old(*entry, now_(), max_age_days); !why.empty()) {
    log::detail(cat("[plan] the remembered plan is measured again: ", why));
    return std::nullopt;
  }
  const auto& settings = candidates.settings;
  if (std::find(settings.begin(), settings.end(), entry->plan.setting()) ==
      settings.end())
    return std::nullopt;
  entry->plan.remembered = true;
  return std::move(entry->plan);
}

void PlanCache::remember(const PlanKey& key, const Plan& plan) const {
  if (folder_.empty() || !worth_remembering(plan)) return;
  const Json entry = {
      {"model", key.model},
      {"batch", key.batch},
      {"input_shape", numbers_text(key.input_shape, "x")},
      {"libtorch", key.libtorch},
      {"saved_s", now_()},
      {"plan", Json::parse(to_json(plan))}};
  try {
    std::error_code ignored;
    fs::create_directories(folder_, ignored);
    remove_oldest(folder_, most_);
    write_file_atomically(
        folder_ / (key.text() + ".json"),
        entry.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
  } catch (const Error& error) {
    log::detail(cat("[plan] the plan is not remembered: ", error.what()));
  }
}

std::vector<RememberedPlan> PlanCache::list() const {
  std::vector<RememberedPlan> entries;
  for (const fs::path& file : plan_files(folder_))
    if (auto entry = read_file(file)) entries.push_back(*std::move(entry));
  std::stable_sort(
      entries.begin(), entries.end(), [](const auto& a, const auto& b) {
        return a.saved_s > b.saved_s;
      });
  return entries;
}

int PlanCache::clear(const std::string& key_begin) const {
  int gone = 0;
  for (const fs::path& file : plan_files(folder_)) {
    if (!file.stem().string().starts_with(key_begin)) continue;
    std::error_code error;
    if (fs::remove(file, error)) ++gone;
    if (error)
      throw Error(
          cat("[plan] cannot remove ",
              file.string(),
              ": ",
              error.message(),
              "."),
          "Remove it by hand.");
  }
  return gone;
}

} // namespace temper::plan
