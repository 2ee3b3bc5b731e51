#include "temper/train/run/run_resume.h"

#include "temper/base/error.h"
#include "temper/base/file/file.h"
#include "temper/base/log.h"
#include "temper/base/text.h"
#include "temper/machine/devices.h"
#include "temper/train/run/repair_run.h"
#include "temper/train/run/resume_rules.h"
#include "temper/train/run/run_events.h"

namespace temper::train {
namespace {

std::optional<checkpoint::Snapshot> newest(
    const journal::RunDirectory& directory) {
  const checkpoint::Store store(directory.checkpoints());
  auto snapshot = store.load_latest();
  // None yet is a beginning; none that is whole is a loss, and is told.
  if (!snapshot && !store.list().empty())
    throw Error(
        cat("[train] no checkpoint of ", directory.name(), " can be used."),
        cat("Start it again: temper train ", directory.config().string(), "."));
  return snapshot;
}

std::shared_ptr<const data::Schema> schema_in(
    const journal::RunDirectory& directory) {
  constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 20;
  const auto text = read_small_file(directory.schema(), kMostBytes);
  if (!text) return nullptr;
  try {
    return std::make_shared<const data::Schema>(
        data::parse_schema(*text, directory.schema().string()));
  } catch (const Error& error) {
    log::warn(cat(error.what(), " It is made again from the data."));
    return nullptr;
  }
}

// Other layouts or precisions would need other measurements: those stay.
void apply_changes(ResumePoint& earlier, const machine::Machine& machine) {
  if (!earlier.settings) return; // they are chosen by the config as it is now
  plan::Plan& settings = *earlier.settings;
  const plan::Setting before = settings.setting();
  const std::string reason = "asked for when the run was resumed";
  if (earlier.now.device != earlier.was.device)
    settings.device = {
        machine::choose_device(
            earlier.now.device, machine::list_devices(machine)),
        reason};
  if (earlier.now.threads != earlier.was.threads && earlier.now.threads)
    settings.threads = {cat(*earlier.now.threads), reason};
  if (!(settings.setting() == before)) earlier.new_settings = true;
}

} // namespace

ResumePoint find_resume_point(
    const journal::RunDirectory& directory,
    const std::vector<config::Assignment>& changes,
    const machine::Machine& machine) {
  ResumePoint made;
  made.snapshot = newest(directory);
  mend_config(directory, made.snapshot);
  made.was = made.snapshot && !made.snapshot->config.empty()
      ? config::load_text(made.snapshot->config, "the checkpoint", {}).config
      : config::load(directory.config(), {}).config;
  made.now = config::load(directory.config(), changes).config;
  for (config::Config* each : {&made.was, &made.now})
    if (each->model.name.empty()) each->model.name = planned_model(directory);
  check_changes(made.was, made.now, directory.path.string());
  Settings found = remaining_settings(directory, made.snapshot);
  made.settings = std::move(found.plan);
  made.new_settings = found.mended;
  apply_changes(made, machine);
  made.schema = schema_in(directory);
  return made;
}

bool cut_journal(
    journal::Journal& journal,
    const journal::RunDirectory& directory,
    const ResumePoint& earlier) {
  const std::uint64_t end =
      end_in_journal(journal, directory, earlier.snapshot);
  journal.truncate(end);
  return end > 0;
}

void warn_of_other_writer(
    const ResumePoint& earlier,
    const std::string& writer) {
  if (!earlier.snapshot ||
      writes_the_same_bits(earlier.snapshot->writer, writer))
    return;
  log::warn(
      "the checkpoint was written by another build, device or number of "
      "threads: the run goes on, and its result may differ in the last "
      "bits from an undisturbed one.");
}

} // namespace temper::train
