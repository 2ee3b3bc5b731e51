// The common ground of the rules of python_checks: the case they judge and the
// rules that live in a file of their own. A rule looks at one thing and adds
// what it finds; most add nothing.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "temper/doctor/check.h"
#include "temper/doctor/python_report.h"
#include "temper/machine/machine.h"

namespace temper::doctor {

// The case that the rules look at, and the list of what they find.
struct PythonCase {
  const PythonReport& python;
  const machine::Machine& machine;
  std::vector<Check> found;

  void add(
      std::string name,
      std::string what,
      Verdict verdict = Verdict::ok,
      std::string advice = "",
      std::string source = "") {
    found.push_back(
        {"python",
         std::move(name),
         std::move(what),
         verdict,
         std::move(advice),
         std::move(source)});
  }
};

// "torch 2.6.0"
std::string named_version(const PythonReport& report, const char* package);

// Does torch work, and with which devices: python_devices.cpp.
void torch_import(PythonCase& c);
void macos_for_mps(PythonCase& c);
void mps(PythonCase& c);
void cuda(PythonCase& c);

} // namespace temper::doctor
