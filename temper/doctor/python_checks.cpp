#include "temper/doctor/python_checks.h"

#include <algorithm>
#include <array>

#include "temper/base/text.h"
#include "temper/doctor/known_bad.h"
#include "temper/doctor/python_rules.h"

namespace temper::doctor {
namespace {

using End = ProcessResult::End;
using machine::Machine;

bool has(const std::vector<std::string>& list, const std::string& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

void interpreter(PythonCase& c) {
  const auto& python = c.python;
  const auto where =
      python.interpreter.empty() ? python.executable : python.interpreter;
  if (python.run.ok()) {
    const auto kind = !python.virtual_environment.empty() ? ", virtual"
        : !python.conda.empty()                           ? ", conda"
                                                          : "";
    return c.add(
        "Python",
        cat(python.implementation,
            " ",
            python.version,
            " (",
            python.architecture,
            kind,
            ") ",
            where));
  }
  // Nobody asked for Python: temper itself does without.
  const auto verdict = python.asked.empty() ? Verdict::note : Verdict::bad;
  const auto what = cat(python.executable, ": ", python.run.error);
  if (python.run.end == End::timed_out)
    c.add(
        "Python",
        what,
        std::max(verdict, Verdict::warn),
        "See what its start-up files and .pth files do, or name another "
        "interpreter.");
  else if (contains(python.run.error, "xcode-select"))
    c.add(
        "Python",
        what,
        verdict,
        "This is Apple's placeholder; install a Python, say with Homebrew.");
  else
    c.add(
        "Python",
        what,
        verdict,
        "Name the interpreter that has your packages.");
}

void packages(PythonCase& c) {
  std::vector<std::string> names;
  for (const auto& package : c.python.packages)
    names.push_back(cat(package.name, " ", package.version));
  c.add(
      "packages",
      names.empty() ? "none that temper knows of (torch, tensorflow, ...)"
                    : join(names, ", "),
      names.empty() ? Verdict::note : Verdict::ok);
}

void translated_python(PythonCase& c) {
  const auto& python = c.python;
  const bool foreign =
      c.machine.apple_silicon() && python.architecture == "x86_64";
  if (!foreign && !python.translated) return;
  c.add(
      "Rosetta",
      "an x86_64 Python on an Apple chip runs translated, and torch has no "
      "x86_64 macOS builds after 2.2.2",
      Verdict::bad,
      "Install an arm64 Python and make the environment anew.",
      "pytorch#114602");
}

// Under one interpreter only libraries of its own architecture load.
void foreign_packages(PythonCase& c) {
  for (const auto& package : c.python.packages) {
    const auto& kinds = package.architectures;
    if (c.python.architecture.empty() || kinds.empty() ||
        has(kinds, c.python.architecture))
      continue;
    // translated_torch says it better.
    if (c.machine.apple_silicon() && package.name == "torch" &&
        !has(kinds, "arm64"))
      continue;
    c.add(
        cat(package.name, " architecture"),
        cat(package.name,
            " is built for ",
            join(kinds, " and "),
            ", this Python is ",
            c.python.architecture),
        Verdict::bad,
        cat("pip install --force-reinstall --no-cache-dir ", package.name));
  }
}

void translated_torch(PythonCase& c) {
  const auto* torch = c.python.package("torch");
  if (!c.machine.apple_silicon() || torch == nullptr) return;
  if (torch->architectures.empty() || has(torch->architectures, "arm64"))
    return;
  c.add(
      "torch build",
      cat(named_version(c.python, "torch"),
          " is built for ",
          join(torch->architectures, " and "),
          ", the chip is arm64"),
      Verdict::bad,
      "Install torch with an arm64 Python.",
      "pytorch#114602");
}

// torchvision is compiled against one torch: 0.15 against 2.0, and so on up;
// before that 0.14 against 1.13, and so on down.
void torchvision_pair(PythonCase& c) {
  const auto torch = installed_version(c.python, "torch");
  const auto vision = installed_version(c.python, "torchvision");
  if (!torch || !vision || vision->major != 0) return;
  const auto nightly = [&](const char* package) {
    const auto text = version_text(c.python, package);
    return contains(text, "dev") || contains(text, "a0");
  };
  // Nightly builds of the two are numbered ahead of each other at times.
  if (nightly("torch") || nightly("torchvision")) return;
  const int wanted = torch->major == 1 ? torch->minor + 1
      : torch->major == 2              ? torch->minor + 15
                                       : vision->minor;
  if (vision->minor == wanted) return;
  c.add(
      "torchvision",
      cat(named_version(c.python, "torchvision"),
          " belongs to another torch than ",
          version_text(c.python, "torch")),
      Verdict::bad,
      cat("pip install 'torchvision==0.", wanted, ".*'"),
      "pytorch/vision README");
}

void tensorflow_without_metal(PythonCase& c) {
  const auto& python = c.python;
  if (!c.machine.apple_silicon() || python.package("tensorflow-metal")) return;
  const bool macos = python.package("tensorflow-macos") != nullptr;
  if (!macos && python.package("tensorflow") == nullptr) return;
  c.add(
      "TensorFlow GPU",
      cat(named_version(python, macos ? "tensorflow-macos" : "tensorflow"),
          " uses the CPU only: tensorflow-metal is not installed"),
      Verdict::note,
      "tensorflow-metal 1.2 brings the GPU to TensorFlow up to 2.18; "
      "TensorFlow's makers do not support it.",
      "tensorflow#61092");
}

void two_tensorflows(PythonCase& c) {
  const auto plain = installed_version(c.python, "tensorflow");
  const auto macos = installed_version(c.python, "tensorflow-macos");
  if (!plain || !macos || *plain == *macos) return;
  c.add(
      "TensorFlow twice",
      cat(named_version(c.python, "tensorflow"),
          " and ",
          named_version(c.python, "tensorflow-macos"),
          " share one folder and overwrite each other"),
      Verdict::bad,
      "Uninstall both, then install the one you mean.",
      "tensorflow#61915");
}

void known_bad(PythonCase& c) {
  for (const auto& entry : known_bad_table())
    if (applies(entry, c.python, c.machine))
      c.add(
          entry.name,
          cat(named_version(c.python, entry.package), ": ", entry.sentence),
          entry.verdict,
          entry.advice,
          entry.source);
}

// In the order they are shown: what keeps everything from working comes first.
using Rule = void (*)(PythonCase&);
constexpr std::array<Rule, 11> kRules{
    packages,
    translated_python,
    foreign_packages,
    translated_torch,
    torch_import,
    macos_for_mps,
    mps,
    cuda,
    torchvision_pair,
    tensorflow_without_metal,
    two_tensorflows,
};

} // namespace

std::string named_version(const PythonReport& python, const char* package) {
  return cat(package, " ", version_text(python, package));
}

std::vector<Check> check_python(
    const PythonReport& report,
    const Machine& machine) {
  PythonCase c{report, machine, {}};
  interpreter(c);
  if (!report.run.ok()) return c.found; // nothing else is known
  for (const auto rule : kRules)
    rule(c);
  known_bad(c);
  return c.found;
}

} // namespace temper::doctor
