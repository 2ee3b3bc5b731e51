#include "temper/session/supervised_main.h"

#include "temper/machine/libraries.h"
#include "temper/machine/startup.h"
#include "temper/session/parent.h"
#include "temper/supervise/system.h"

namespace temper::session {
namespace {

constexpr int kDiedOfSignal = 128; // as shells count

} // namespace

int supervised_main(
    int argc,
    const char* const* argv,
    const std::function<int()>& trainer) {
  const Environment environment = current_environment();
  if (!wants_parent(environment)) return trainer();
  TrainerProgram program;
  const supervise::HeldProgram held(machine::executable_path());
  program.path = [&] { return held.path(); };
  if (argc > 0) {
    program.name = argv[0];
    program.arguments.assign(argv + 1, argv + argc);
  }
  const auto loading = machine::loading_variables({false, true}, environment);
  for (const auto& variable : loading.variables)
    program.variables.insert(variable);
  TrackedRun tracked;
  const auto ending = run_trainer(program, tracked);
  if (!ending) return trainer();
  tracked.finish(status_of(*ending), patience_of(*ending));
  return ending->signal == 0 ? ending->code : kDiedOfSignal + ending->signal;
}

} // namespace temper::session
