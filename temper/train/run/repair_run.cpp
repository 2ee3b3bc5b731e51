#include "temper/train/run/repair_run.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "temper/base/error.h"
#include "temper/base/file/atomic_file.h"
#include "temper/base/file/file.h"
#include "temper/base/log.h"
#include "temper/base/text.h"
#include "temper/config/load.h"
#include "temper/journal/event_fields.h"
#include "temper/journal/event_kinds.h"
#include "temper/train/run/run_events.h"

namespace temper::train {
namespace {

using nlohmann::json;
namespace kinds = journal::kinds;
namespace fields = journal::fields;
namespace statuses = journal::statuses;

// The journal's first line; nothing when that is lost.
std::optional<journal::Event> beginning(
    const journal::RunDirectory& directory) {
  auto first = journal::Follower(directory.journal()).read(1);
  if (first.empty() || first[0].kind != kinds::kRun) return std::nullopt;
  return std::move(first[0]);
}

std::optional<plan::Plan> settings_or_nothing(const std::string& plan_json) {
  try {
    return settings_in(plan_json);
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::optional<plan::Plan> settings_of_writer(const std::string& writer) {
  const json read = json::parse(writer, nullptr, false);
  if (!read.is_object() || !read.contains("settings") ||
      !read["settings"].is_string())
    return std::nullopt;
  const auto setting = plan::setting_from_text(read["settings"]);
  if (!setting) return std::nullopt;
  const std::string reason = "as the checkpoint was written with";
  plan::Plan made;
  made.device = {setting->device, reason};
  made.layout = {to_text(setting->layout), reason};
  made.threads = {cat(setting->threads), reason};
  made.precision = {to_text(setting->precision), reason};
  made.kernels = {to_text(setting->kernels), reason};
  return made;
}

constexpr const char* kGone = "is gone";

// Empty: it can be read.
std::string what_is_wrong_with(const std::filesystem::path& config) {
  // One without a word is what a crash of the machine leaves.
  const auto text = read_small_file(config);
  if (!text || text->empty()) return kGone;
  try {
    config::load_text(*text, config.filename().string(), {});
    return "";
  } catch (const Error& error) {
    // A key or a value that is wrong was meant by somebody, who is told.
    if (!std::string_view(error.what()).starts_with("[config] cannot read "))
      return "";
    return cat("is not TOML (", error.what(), ")");
  }
}

// True for an event that tells of a checkpoint: its own, a resume from an
// update, or the end of a run. The last two may be all that is left of a
// journal that was lost.
bool tells_of_a_checkpoint(const journal::Event& event) {
  const std::string status = event.text(fields::kStatus).value_or("");
  return event.kind == kinds::kCheckpoint ||
      (event.kind == kinds::kResume &&
       event.count(fields::kUpdate).value_or(0) > 0) ||
      (event.kind == kinds::kEnd &&
       (status == statuses::kDone || status == statuses::kStoppedEarly));
}

bool tells_of_checkpoints(journal::Follower& rest) {
  for (;;) {
    const auto events = rest.read();
    if (events.empty()) return false;
    for (const journal::Event& event : events)
      if (tells_of_a_checkpoint(event)) return true;
  }
}

} // namespace

void mend_config(
    const journal::RunDirectory& directory,
    const std::optional<checkpoint::Snapshot>& snapshot) {
  const std::string wrong = what_is_wrong_with(directory.config());
  if (wrong.empty()) return;
  std::string found = snapshot ? snapshot->config : "";
  std::string where = "its checkpoint";
  if (found.empty()) {
    const auto first = beginning(directory);
    found = first ? first->text(fields::kConfig).value_or("") : "";
    where = "its journal";
  }
  const bool gone = wrong == kGone;
  // It is for its owner to mend, and says where.
  if (found.empty() && !gone) return;
  if (found.empty())
    throw Error(
        cat("[train] ",
            directory.config().string(),
            " is gone, and neither a checkpoint nor the journal has a copy."),
        "Put it back, or start the run again.");
  if (!gone) {
    std::error_code failed;
    std::filesystem::rename(
        directory.config(), directory.path / "config.toml.damaged", failed);
  }
  log::warn(
      cat(directory.config().string(),
          " ",
          wrong,
          ": it is written again as ",
          where,
          " has it",
          gone ? "." : " (what was there is config.toml.damaged)."));
  write_file_atomically(directory.config(), found);
}

std::string planned_model(const journal::RunDirectory& directory) {
  const auto text = read_small_file(directory.plan());
  const json read = json::parse(text.value_or(""), nullptr, false);
  return read.is_object() && read.contains("model") && read["model"].is_string()
      ? read["model"].get<std::string>()
      : "";
}

Settings remaining_settings(
    const journal::RunDirectory& directory,
    const std::optional<checkpoint::Snapshot>& snapshot) {
  const auto text = read_small_file(directory.plan());
  if (auto plan = settings_or_nothing(text.value_or("")))
    return {std::move(plan), false};
  const std::string lost =
      cat(directory.plan().string(), text ? " is damaged: " : " is gone: ");
  // A resume may have had other settings than the beginning.
  auto found = snapshot ? settings_of_writer(snapshot->writer) : std::nullopt;
  if (!found)
    if (const auto first = beginning(directory))
      found = settings_or_nothing(first->json(fields::kPlan).value_or(""));
  log::warn(
      lost +
      (found ? "the run goes on with the settings that it had."
             : "the settings are chosen anew, and the result may differ in "
               "the last bits from an undisturbed one."));
  return {std::move(found), true};
}

std::uint64_t end_in_journal(
    const journal::Journal& journal,
    const journal::RunDirectory& directory,
    const std::optional<checkpoint::Snapshot>& snapshot) {
  if (!snapshot) {
    journal::Follower follower(directory.journal());
    const auto first = follower.read(1);
    const std::uint64_t end = follower.offset();
    if (tells_of_checkpoints(follower))
      log::warn(
          cat("no checkpoint is left in ",
              directory.checkpoints().string(),
              ", though the run had some: it begins again."));
    return !first.empty() && first[0].kind == kinds::kRun ? end : 0;
  }
  const std::uint64_t there = snapshot->journal_offset;
  if (journal.offset() == 0) {
    log::warn(
        cat("the journal is gone: it begins again, and what the run did until "
            "update ",
            snapshot->update,
            " is not in it. The checkpoint has all that the run needs: its "
            "result is the same."));
    return 0;
  }
  if (there > journal.offset()) {
    log::warn(
        "the journal has lost its last lines: what the run did before its "
        "checkpoint is not all in it.");
    return journal.offset();
  }
  const std::uint64_t end = journal.line_end(there);
  if (end != there)
    log::warn(
        "the journal was altered since the checkpoint: it is cut off where "
        "that should be, and lines may be missing.");
  return end;
}

} // namespace temper::train
