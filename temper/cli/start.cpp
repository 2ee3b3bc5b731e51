#include "temper/cli/start.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "temper/base/log.h"
#include "temper/base/text.h"
#include "temper/machine/libraries.h"
#include "temper/machine/startup.h"

namespace temper::cli {
namespace {

// Set in the restarted process, so that it can never restart again.
constexpr const char* kRestarted = "TEMPER_RESTARTED";

void restart(const std::vector<std::string>& arguments) {
  std::string program = machine::executable_path();
  std::vector<std::string> copies(arguments);
  std::vector<char*> argv{program.data()};
  for (auto& argument : copies)
    argv.push_back(argument.data());
  argv.push_back(nullptr);
  ::setenv(kRestarted, "1", 1);
  ::execv(program.c_str(), argv.data());
  log::warn(
      cat("could not start again with other variables: ",
          std::strerror(errno),
          "; going on without them"));
}

} // namespace

void start(
    const Invocation& invocation,
    const machine::Machine& machine,
    bool inspect_only,
    bool measures) {
  const Environment environment = current_environment();
  machine::StartupRequest request;
  request.mps_fallback = invocation.mps_fallback;
  request.inspect_only = inspect_only;
  request.measures = measures;
  auto startup = machine::plan_startup(request, environment, machine);
  if (variable(environment, kRestarted)) {
    startup.restart = false;
    log::detail("started again with other variables");
  }
  machine::apply_startup(startup);
  if (startup.restart) restart(invocation.arguments);
}

} // namespace temper::cli
