#include <CLI/CLI.hpp>

#include "temper/base/text.h"
#include "temper/cli/terminal/command.h"
#include "temper/cli/terminal/start.h"
#include "temper/doctor/checks.h"
#include "temper/doctor/python_checks.h"
#include "temper/doctor/python_report.h"
#include "temper/doctor/report.h"
#include "temper/machine/probe.h"

namespace temper::cli {
namespace {

class DoctorCommand : public Command {
 public:
  Manual manual() const override {
    return {
        "Looks at the machine, at this build of temper and its LibTorch, at "
        "limits, devices and storage, and says of each whether it is fit for "
        "training: ok, note (worth knowing), warn (will cost time or trust) "
        "or bad (fix it first), with what to do.\n\n"
        "It measures a little (a matrix product, a short write to the disk) "
        "and changes nothing. A GPU counts as working only after it computed "
        "a product and gave it back.\n\n"
        "With --python it also inspects a Python interpreter and the torch, "
        "tensorflow and numpy in it, from outside and within a time limit.",
        {{"temper doctor", "check everything"},
         {"temper doctor --device gpu", "is there a GPU that works?"},
         {"temper doctor --python", "check python3 too"},
         {"temper doctor --json > doctor.json",
          "for a program or a bug report"}},
        {{0, "nothing is bad"}, {2, "wrong flags"}, {3, "something is bad"}}};
  }

  void declare(CLI::App& app) override {
    app.add_flag("--json", json_, "print JSON, the whole machine included");
    app.add_option(
           "--device",
           device_,
           "the device a run would ask for: auto, any, cpu, gpu, mps, cuda or "
           "cuda:N")
        ->type_name("D")
        ->default_str("auto")
        ->check([](const std::string& name) {
          const auto error = machine::unknown_device(name);
          return error ? cat(error->what(), " ", error->hint()) : "";
        });
    app.add_option(
           "--dir",
           directory_,
           "where runs will be written: its disk is the one checked")
        ->type_name("PATH")
        ->default_str(".");
    app.add_option(
           "--python",
           python_,
           "inspect this Python interpreter too; python3 of the PATH when no "
           "name is given")
        ->type_name("[EXE]")
        ->expected(0, 1);
    app_ = &app;
  }

  int run(const Invocation& invocation, Console& console) override {
    need_libtorch(invocation);
    const bool with_python = app_->count("--python") > 0;
    const auto progress = [&](const std::string& what) {
      console.progress(cat("checking ", what, " ..."));
    };
    progress("the machine");
    // Taken as the user has them, before start() sets what training needs.
    const auto environment = current_environment();
    const auto machine = machine::probe(directory_);
    start(machine, true);
    const auto evidence =
        doctor::gather(machine, environment, device_, progress);
    auto checks = doctor::run_checks(evidence);
    if (with_python) {
      progress("Python");
      const auto report = doctor::inspect_python(python_);
      for (auto& check : doctor::check_python(report, machine))
        checks.push_back(std::move(check));
    }
    if (json_)
      console.print(doctor::to_json(checks, machine));
    else
      console.print(
          doctor::to_text(checks, {console.colour(), console.width()}));
    return doctor::worst(checks) == doctor::Verdict::bad ? kProblemsFound
                                                         : kDone;
  }

 private:
  bool json_ = false;
  std::string device_ = "auto";
  std::string directory_ = ".";
  std::string python_;
  CLI::App* app_ = nullptr;
};

} // namespace

std::unique_ptr<Command> make_doctor() {
  return std::make_unique<DoctorCommand>();
}

} // namespace temper::cli
