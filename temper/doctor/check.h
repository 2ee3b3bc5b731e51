// One finding of doctor: what was looked at, what was found, whether it is fit
// to train with, and what to do if not. Every group of checks returns these;
// the command prints them and makes JSON of them.
#pragma once

#include <string>

namespace temper::doctor {

enum class Verdict {
  ok,
  note, // worth knowing; nothing is wrong yet
  warn, // it works, but slowly or not reliably
  bad, // it does not work, or gives wrong numbers
};

struct Check {
  std::string group; // "machine", "build", "limits", "devices", "storage", ...
  std::string name; // "Rosetta"
  std::string found; // what was found
  Verdict verdict = Verdict::ok;
  std::string advice; // what to do; empty when ok
  std::string
      source; // where this is known from: "pytorch#105839"; may be empty
};

const char* to_string(Verdict verdict);

} // namespace temper::doctor
