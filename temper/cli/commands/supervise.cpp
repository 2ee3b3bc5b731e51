#include "temper/cli/commands/supervise.h"

#include <signal.h>

#include "temper/base/text.h"
#include "temper/cli/terminal/interrupt.h"
#include "temper/cli/terminal/start.h"
#include "temper/machine/startup.h"
#include "temper/session/parent.h"
#include "temper/supervise/system.h"

namespace temper::cli {

std::vector<std::string> resume_arguments(
    const Invocation& invocation,
    const Changes& changes,
    const std::filesystem::path& run) {
  std::vector<std::string> arguments{"train", "--resume", run.string()};
  for (const auto& [key, value, source] : changes) {
    arguments.emplace_back("--set");
    arguments.push_back(cat(key, "=", value));
  }
  if (invocation.verbose) arguments.emplace_back("--verbose");
  if (invocation.quiet) arguments.emplace_back("--quiet");
  if (invocation.mps_fallback) arguments.emplace_back("--mps-fallback");
  return arguments;
}

void show_delivering(
    Console& console,
    const std::vector<std::string>& places,
    double patience_s) {
  console.progress(
      cat("waiting up to ",
          decimals(patience_s, 0),
          " s for ",
          join(places, ", "),
          " ..."));
}

void show_delivered(Console& console, const std::string& place) {
  if (!console.quiet()) console.print(cat("  tracked   ", place, "\n"));
}

std::optional<int> run_supervised(
    const Invocation& invocation,
    Console& console,
    const Changes& changes) {
  session::TrainerProgram trainer;
  const supervise::HeldProgram program(full_program());
  trainer.path = [&] { return program.path(); };
  trainer.arguments = invocation.arguments;
  trainer.resume = [&](const std::filesystem::path& run) {
    return resume_arguments(invocation, changes, run);
  };
  const auto loading = machine::loading_variables(
      {invocation.mps_fallback, true}, current_environment());
  for (const auto& variable : loading.variables)
    trainer.variables.insert(variable);
  trainer.listens_late = true;
  trainer.say = [&](const std::string& line) {
    console.progress(""); // what the trainer left on the line goes
    log::warn(line);
  };
  console.share_line(); // with the trainer, which shows its progress there
  session::TrackedRun tracked;
  InterruptWatch interrupts; // for what comes after the trainer's end
  const auto ending = session::run_trainer(trainer, tracked);
  if (!ending) return std::nullopt;
  if (ending->signal == 0) interrupts.leave_at_once(ending->code, nullptr);
  const double patience_s = session::patience_of(*ending);
  if (const auto places = tracked.places(); !places.empty())
    show_delivering(console, places, patience_s);
  for (const std::string& place :
       tracked.finish(session::status_of(*ending), patience_s))
    show_delivered(console, place);
  interrupts.over();
  if (ending->signal == 0) return ending->code;
  // Ends as the trainer did, so that a shell sees what it would have seen.
  ::signal(ending->signal, SIG_DFL);
  ::raise(ending->signal);
  return kInterrupted;
}

} // namespace temper::cli
