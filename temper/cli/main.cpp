// The command `temper`: arguments in, exit code out. Everything else is in
// program.cpp and the commands.
#include <exception>
#include <string>
#include <vector>

#include "temper/base/text.h"
#include "temper/cli/commands/program.h"

int main(int argc, char** argv) {
  using namespace temper;
  cli::Console console(current_environment());
  log::set_sink([&](log::Level level, const std::string& line) {
    console.log(level, line);
  });
  try {
    return cli::run_program({argv + 1, argv + argc}, console);
  } catch (const cli::UsageError& error) {
    console.error(error.what(), error.hint());
    return temper::kUsage;
  } catch (const cli::Interrupted& error) {
    console.error(error.what(), error.hint());
    return temper::kInterrupted;
  } catch (const Error& error) {
    console.error(error.what(), error.hint());
    return temper::kFailed;
  } catch (const std::exception& error) {
    console.error(
        cat("internal error: ", error.what()),
        "This is a bug in temper: please report it with the command you ran "
        "and the output of temper doctor --json.");
    return temper::kFailed;
  }
}
