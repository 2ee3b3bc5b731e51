#include "temper/doctor/python_report.h"

#include "temper/base/text.h"
#include "temper/doctor/python_parse.h"
#include "temper/doctor/python_script.h"

namespace temper::doctor {
namespace {

constexpr Version kOldestPython{3, 6, 0};

// The line of standard error that says most: the last one, where Python puts
// the exception after its traceback.
std::string last_line(std::string_view text) {
  text = trim(text);
  const auto newline = text.rfind('\n');
  if (newline != std::string_view::npos) text.remove_prefix(newline + 1);
  return printable(trim(text), 300);
}

std::string failure(const ProcessResult& result, const ProcessLimits& limits) {
  const auto said = last_line(result.err);
  if (result.end == ProcessResult::End::not_started) return result.error;
  return cat(describe_end(result, limits), said.empty() ? "" : cat(": ", said));
}

PythonRun begin_run(const ProcessResult& result, const ProcessLimits& limits) {
  PythonRun run;
  run.made = true;
  run.end = result.end;
  run.code = result.code;
  if (!result.succeeded()) run.error = failure(result, limits);
  return run;
}

// Asked before anything is fed to it: whatever answers to --version otherwise
// than Python does, say a shell, must not be given a script to run.
PythonRun ask_version(const std::string& executable, ProcessLimits limits) {
  const auto result = run_process({executable, "--version"}, "", limits);
  auto run = begin_run(result, limits);
  if (!run.ok()) return run;
  // Python 2 wrote it to standard error.
  const std::string said = cat(result.out, "\n", result.err);
  constexpr std::string_view kName = "Python ";
  const auto at = said.find(kName);
  const auto version = at == std::string::npos
      ? std::nullopt
      : parse_version(std::string_view(said).substr(at + kName.size()));
  if (!version)
    run.error = "it does not answer to --version as Python does";
  else if (*version < kOldestPython)
    run.error =
        cat("Python ",
            version->major,
            ".",
            version->minor,
            " is too old; 3.6 is the oldest that can be examined");
  return run;
}

ProcessResult run_script(
    const std::string& executable,
    const char* part,
    const ProcessLimits& limits) {
  // -B: looking must not leave .pyc files behind.
  return run_process({executable, "-B", "-", part}, kPythonScript, limits);
}

PythonRun ask_for_packages(PythonReport& report, const ProcessLimits& limits) {
  const auto result = run_script(report.executable, "packages", limits);
  auto run = begin_run(result, limits);
  const auto text = last_marked_report(result.out);
  if (!run.ok()) return run;
  run.error = text ? parse_packages(*text, report)
                   : "it printed no report where one was expected";
  return run;
}

void try_torch(PythonReport& report, const ProcessLimits& limits) {
  auto& torch = report.torch;
  const auto result = run_script(report.executable, "torch", limits);
  torch.run = begin_run(result, limits);
  // Also after a crash: what it reported before then is what there is.
  if (const auto text = last_marked_report(result.out)) {
    const auto problem = parse_torch(*text, torch);
    if (torch.run.error.empty()) torch.run.error = problem;
  } else if (torch.run.error.empty()) {
    torch.run.error = "it printed no report where one was expected";
  }
}

} // namespace

const PythonPackage* PythonReport::package(std::string_view name) const {
  for (const auto& candidate : packages)
    if (candidate.name == name) return &candidate;
  return nullptr;
}

PythonReport inspect_python(
    const std::string& executable,
    const PythonLimits& limits) {
  const auto within = [&](std::chrono::milliseconds time) {
    return ProcessLimits{.time = time, .output_bytes = limits.output_bytes};
  };
  PythonReport report;
  report.asked = executable;
  report.executable = executable.empty() ? "python3" : executable;
  report.run = ask_version(report.executable, within(limits.version));
  if (!report.run.ok()) return report;
  report.run = ask_for_packages(report, within(limits.packages));
  if (!report.run.ok()) return report;
  if (report.package("torch") != nullptr)
    try_torch(report, within(limits.torch));
  return report;
}

} // namespace temper::doctor
