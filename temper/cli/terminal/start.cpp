#include "temper/cli/terminal/start.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "temper/base/log.h"
#include "temper/base/text.h"
#include "temper/libtorch/facts.h"
#include "temper/machine/libraries.h"
#include "temper/machine/startup.h"

namespace temper::cli {
namespace {

namespace fs = std::filesystem;

// Relative to this program's folder, in a build tree as where it is installed;
// empty in a build without LibTorch.
constexpr std::string_view kFullProgram = TEMPER_FULL_PROGRAM;

// The arguments as execv wants them.
std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> all;
  for (std::string& word : words)
    all.push_back(word.data());
  all.push_back(nullptr);
  return all;
}

} // namespace

fs::path full_program() {
  const fs::path own = machine::executable_path();
  if (libtorch::linked() || kFullProgram.empty()) return own;
  std::error_code failed; // people reach the command through links
  const fs::path full =
      (fs::weakly_canonical(own, failed).parent_path() / kFullProgram)
          .lexically_normal();
  if (!fs::exists(full, failed))
    throw Error(
        cat("this needs LibTorch, and the part of temper that has it is "
            "missing: ",
            full.string(),
            "."),
        "The program temper was moved without it: install temper again, and "
        "reach it by a link instead of a copy.");
  return full;
}

void need_libtorch(const Invocation& invocation, bool computes) {
  if (libtorch::linked() || kFullProgram.empty()) return;
  const std::string program = full_program().string();
  const auto loading = machine::loading_variables(
      {invocation.mps_fallback, computes}, current_environment());
  for (const auto& [name, value] : loading.variables)
    ::setenv(name.c_str(), value.c_str(), 1);
  for (const std::string& reason : loading.reasons)
    log::detail(reason);
  std::vector<std::string> words{"temper"};
  words.insert(
      words.end(), invocation.arguments.begin(), invocation.arguments.end());
  ::execv(program.c_str(), pointers(words).data());
  throw Error(
      cat("cannot start ", program, ": ", std::strerror(errno), "."),
      "It is the part of temper that has LibTorch: install temper again.");
}

void start(const machine::Machine& machine, bool inspect_only) {
  machine::StartupRequest request;
  request.inspect_only = inspect_only;
  machine::apply_startup(
      machine::plan_startup(request, current_environment(), machine));
}

} // namespace temper::cli
