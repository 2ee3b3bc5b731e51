#include "source_rules.h"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <regex>
#include <sstream>

#include "temper/base/text.h"

namespace temper::rules {
namespace {

using Rooms = std::set<std::string>;

// Who may include whom, as ARCHITECTURE.md draws it. Every room may include
// itself. cli may include everything and nobody may include it.
const std::map<std::string, Rooms>& arrows() {
  static const Rooms below_tools{
      "base",
      "libtorch",
      "machine",
      "config",
      "journal",
      "plan",
      "data",
      "graph",
      "kernels",
      "model",
      "memory",
      "checkpoint",
      "train",
      "plot"};
  static const std::map<std::string, Rooms> table{
      {"base", {}},
      {"libtorch", {"base"}},
      {"machine", {"base", "libtorch"}},
      {"config", {"base"}},
      {"journal", {"base"}},
      {"plan", {"base", "libtorch", "machine", "config"}},
      {"data", {"base", "config", "kernels"}},
      {"graph", {"base"}},
      {"kernels", {"base"}},
      {"model", {"base", "libtorch", "config", "graph", "kernels"}},
      {"memory", {"base", "libtorch", "machine"}},
      {"checkpoint", {"base", "journal", "graph", "model"}},
      {"train",
       {"base",
        "libtorch",
        "machine",
        "config",
        "journal",
        "plan",
        "data",
        "graph",
        "kernels",
        "model",
        "memory",
        "checkpoint"}},
      {"supervise", {"base", "journal", "machine"}},
      {"track", {"base", "journal", "machine"}},
      {"plot", {"base"}},
      {"session",
       {"base",
        "libtorch",
        "machine",
        "config",
        "journal",
        "data",
        "graph",
        "model",
        "train",
        "supervise",
        "track",
        "plot"}},
      {"doctor", below_tools},
      {"bench", below_tools},
      {"parity", below_tools},
      {"profile", below_tools},
      {"ui", below_tools},
  };
  return table;
}

// Files that may print: the log's default sink, and the console.
const std::set<std::string> kMayPrint{"base/log.cpp", "cli/console.cpp"};
// main, and what cannot be unwound: a second Ctrl-C, a run that hangs.
const std::set<std::string> kMayExit{
    "cli/main.cpp",
    "cli/interrupt.cpp",
    "session/leave.cpp"};

// Raw strings hold other languages; their lines stay, so that numbers fit.
std::string without_raw_strings(const std::string& text) {
  std::string code;
  std::size_t at = 0;
  for (;;) {
    const auto begin = text.find("R\"", at);
    const auto open = text.find('(', begin);
    if (begin == std::string::npos || open == std::string::npos) break;
    const std::string closing =
        cat(")", text.substr(begin + 2, open - begin - 2), "\"");
    const auto end = text.find(closing, open);
    if (end == std::string::npos) break;
    code += cat(text.substr(at, begin - at), "\"\"");
    code.append(
        static_cast<std::size_t>(
            std::count(text.begin() + begin, text.begin() + end, '\n')),
        '\n');
    at = end + closing.size();
  }
  return code + text.substr(at);
}

// Looking for words is quick, and regular expressions are not.
bool has_any(
    const std::string& line,
    std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return contains(line, word);
  });
}

// Strings and // comments blanked out, so that words in them break no rule.
std::string code_only(const std::string& line) {
  static const std::regex strings(R"("(\\.|[^"\\])*")");
  static const std::regex comment(R"(//.*$)");
  return std::regex_replace(
      std::regex_replace(line, strings, "\"\""), comment, "");
}

std::string broken_include(
    const std::string& room,
    const std::string& line,
    bool may_use_torch) {
  static const std::regex ours(R"(^\s*#\s*include\s*[<"]temper/([a-z_]+)/)");
  static const std::regex torch(
      R"(^\s*#\s*include\s*[<"](torch|ATen|c10|caffe2)/)");
  std::smatch match;
  if (std::regex_search(line, match, torch) && !may_use_torch)
    return "torch outside the files listed in temper/CMakeLists.txt";
  if (!std::regex_search(line, match, ours)) return "";
  const std::string other = match[1];
  if (other == room || room == "cli") return "";
  if (arrows().at(room).count(other) > 0) return "";
  return cat(room, " may not include ", other);
}

} // namespace

std::vector<std::string> broken_rules(
    const SourceFile& file,
    const std::set<std::string>& torch_files) {
  static const std::regex print(
      R"(\b(printf|fprintf|vprintf|puts|fputs|putchar|fwrite|perror)\s*\(|)"
      R"(\bstd::(cout|cerr|clog)\b)");
  static const std::regex leave(
      R"(\b(exit|_exit|_Exit|quick_exit|abort|terminate)\s*\()");
  static const std::regex system_switch(
      R"(^\s*#\s*(if|ifdef|ifndef|elif).*\b(__APPLE__|__linux__|__MACH__)\b)");
  constexpr int kLongest = 500;

  std::vector<std::string> broken;
  const auto report = [&](int line, const std::string& rule) {
    broken.push_back(cat("temper/", file.path, ":", line, ": ", rule));
  };
  const std::string room = file.path.substr(0, file.path.find('/'));
  if (room != "cli" && arrows().count(room) == 0) {
    report(1, cat("there is no room ", room));
    return broken;
  }
  const bool is_header = file.path.size() > 2 &&
      file.path.compare(file.path.size() - 2, 2, ".h") == 0;
  if (is_header && !contains(file.text, "#pragma once"))
    report(1, "a header without #pragma once");
  const bool may_use_torch =
      torch_files.count(file.path) > 0 || file.path == "libtorch/precompiled.h";

  std::istringstream lines(without_raw_strings(file.text));
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (contains(line, "#")) {
      const std::string include = broken_include(room, line, may_use_torch);
      if (!include.empty()) report(number, include);
      if (std::regex_search(line, system_switch))
        report(number, "systems differ in *_linux.cpp and *_macos.cpp only");
    }
    if (!has_any(
            line,
            {"print",
             "put",
             "fwrite",
             "perror",
             "cout",
             "cerr",
             "clog",
             "xit",
             "abort",
             "terminate"}))
      continue;
    const std::string code = code_only(line);
    if (kMayPrint.count(file.path) == 0 && std::regex_search(code, print))
      report(number, "printing is up to the log sink and the console");
    if (kMayExit.count(file.path) == 0 && std::regex_search(code, leave))
      report(number, "leaving the program is up to main");
  }
  if (number > kLongest)
    report(number, cat("longer than ", kLongest, " lines"));
  return broken;
}

std::set<std::string> torch_files_of(const std::string& cmake_lists) {
  const std::string opening = "set(torch_files";
  const auto begin = cmake_lists.find(opening);
  if (begin == std::string::npos) return {};
  const auto end = cmake_lists.find(')', begin);
  std::istringstream words(
      cmake_lists.substr(begin + opening.size(), end - begin - opening.size()));
  std::set<std::string> files;
  for (std::string word; words >> word;)
    files.insert(word);
  return files;
}

} // namespace temper::rules
