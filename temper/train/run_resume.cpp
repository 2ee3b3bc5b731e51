#include "temper/train/run_resume.h"

#include "temper/base/error.h"
#include "temper/base/file.h"
#include "temper/base/log.h"
#include "temper/base/text.h"
#include "temper/machine/devices.h"
#include "temper/train/resume_rules.h"
#include "temper/train/run_events.h"

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

// Other layouts or precisions would need other measurements: those stay.
void apply_changes(Earlier& earlier, const machine::Machine& machine) {
  const plan::Setting before = earlier.settings.setting();
  const std::string reason = "asked for when the run was resumed";
  if (earlier.now.device != earlier.was.device)
    earlier.settings.device = {
        machine::choose_device(
            earlier.now.device, machine::list_devices(machine)),
        reason};
  if (earlier.now.threads != earlier.was.threads && earlier.now.threads)
    earlier.settings.threads = {cat(*earlier.now.threads), reason};
  earlier.new_settings = !(earlier.settings.setting() == before);
}

} // namespace

Earlier find_earlier(
    const journal::RunDirectory& directory,
    const std::vector<config::Assignment>& changes,
    const machine::Machine& machine) {
  Earlier made;
  made.snapshot = newest(directory);
  made.was = made.snapshot && !made.snapshot->config.empty()
      ? config::load_text(made.snapshot->config, "the checkpoint", {}).config
      : config::load(directory.config(), {}).config;
  made.now = config::load(directory.config(), changes).config;
  check_changes(made.was, made.now);
  made.settings = settings_in(read_small_file(directory.plan()).value_or(""));
  apply_changes(made, machine);
  return made;
}

bool cut_journal(
    journal::Journal& journal,
    const journal::RunDirectory& directory,
    const Earlier& earlier) {
  if (!earlier.snapshot) {
    journal::Follower follower(directory.journal());
    const auto first = follower.read(1);
    const bool begun = !first.empty() && first[0].kind == "run";
    journal.truncate(begun ? follower.offset() : 0);
    return begun;
  }
  if (earlier.snapshot->journal_offset > journal.offset()) {
    log::warn(
        "the journal has lost its last lines: what the run did before its "
        "checkpoint is not all in it.");
    return true;
  }
  journal.truncate(earlier.snapshot->journal_offset);
  return true;
}

void warn_of_other_writer(const Earlier& earlier, const std::string& writer) {
  if (!earlier.snapshot || earlier.snapshot->writer == writer) return;
  log::warn(
      "the checkpoint was written by another build, device or number of "
      "threads: the run goes on, and its result may differ in the last "
      "bits from an undisturbed one.");
}

} // namespace temper::train
