#include "source_rules.h"

#include <algorithm>
#include <array>
#include <map>
#include <regex>
#include <sstream>
#include <utility>

#include "temper/base/text.h"

namespace temper::rules {
namespace {

// Files that may print: the log's default sink, and the console.
const Names kMayPrint{"base/log.cpp", "cli/terminal/console.cpp"};
// main, and what cannot be unwound: a second Ctrl-C, a run that hangs.
const Names kMayExit{
    "cli/main.cpp",
    "cli/terminal/interrupt.cpp",
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

// Strings and // comments blanked out, so that words in them break no rule.
std::string code_only(const std::string& line) {
  static const std::regex strings(R"("(\\.|[^"\\])*")");
  static const std::regex comment(R"(//.*$)");
  return std::regex_replace(
      std::regex_replace(line, strings, "\"\""), comment, "");
}

// Regular expressions are slow: most lines need none.
bool is_directive(const std::string& line) {
  const auto first = line.find_first_not_of(' ');
  return first != std::string::npos && line[first] == '#';
}
bool may_print_or_exit(const std::string& line) {
  static const std::array words{
      "print",
      "put",
      "fwrite",
      "perror",
      "std::c",
      "xit",
      "abort",
      "terminate"};
  return std::any_of(words.begin(), words.end(), [&](const char* word) {
    return line.find(word) != std::string::npos;
  });
}

// Where a file lies: "data/loader/ring.h", "machine/probe.h".
struct Place {
  std::string room;
  std::string corner = "."; // as the table names it
  std::string rest; // folders below a corner, which there are none of

  std::string text() const {
    return corner == "." ? room : cat(room, "/", corner);
  }
  bool is_in(const std::string& room_or_corner) const {
    return room_or_corner == room || room_or_corner == text();
  }
};

Place place_of(const std::string& path) {
  Place place;
  const auto room_end = path.find('/');
  place.room = path.substr(0, room_end);
  if (room_end == std::string::npos) return place;
  const auto corner_end = path.find('/', room_end + 1);
  if (corner_end == std::string::npos) return place;
  place.corner = path.substr(room_end + 1, corner_end - room_end - 1);
  const auto rest_end = path.rfind('/');
  if (rest_end > corner_end)
    place.rest = path.substr(corner_end + 1, rest_end - corner_end - 1);
  return place;
}

// Why nothing may lie there; "": the table knows the place.
std::string unknown_place(const Place& place) {
  const Room* room = room_of(place.room);
  if (room == nullptr) return cat("there is no room ", place.room);
  const bool flat = room->corners.empty() && place.corner == ".";
  if (!flat && room->corner(place.corner) == nullptr)
    return place.corner == "." ? cat("files of ", place.room, " lie in corners")
                               : cat("there is no corner ", place.text());
  if (!place.rest.empty()) return cat("a corner has no folders: ", place.rest);
  return "";
}

// The path below temper/ that a line includes; "": none of ours.
std::string included(const std::string& line) {
  if (!is_directive(line)) return "";
  static const std::regex ours(R"(^\s*#\s*include\s*[<"]temper/([^>"]+)[>"])");
  std::smatch match;
  return std::regex_search(line, match, ours) ? match.str(1) : "";
}

std::string
broken_include(const Place& from, const std::string& line, bool may_use_torch) {
  if (!is_directive(line)) return "";
  static const std::regex torch(
      R"(^\s*#\s*include\s*[<"](torch|ATen|c10|caffe2)/)");
  if (std::regex_search(line, torch) && !may_use_torch)
    return "torch outside the folders listed in temper/CMakeLists.txt";
  const std::string path = included(line);
  if (path.empty()) return "";
  const Place to = place_of(path);
  const Room& room = *room_of(from.room);
  const bool may = from.room != to.room ? room.uses.count(to.room) > 0
      : from.corner != to.corner
      ? room.corner(from.corner)->uses.count(to.corner) > 0
      : true;
  if (may) return "";
  return from.room != to.room
      ? cat(from.room, " may not include ", to.room)
      : cat(from.text(), " may not include ", to.text());
}

// Calls look(file, number of the line, path below temper/) for each include.
template <class Look>
void each_include(const std::vector<SourceFile>& tree, const Look& look) {
  for (const SourceFile& file : tree) {
    std::istringstream lines(file.text);
    int number = 0;
    for (std::string line; std::getline(lines, line);) {
      ++number;
      const std::string path = included(line);
      if (!path.empty()) look(file, number, path);
    }
  }
}

// "base" of "[`base`](temper/base/README.md)".
std::string quoted(const std::string& cell) {
  const auto begin = cell.find('`');
  if (begin == std::string::npos) return cell;
  return cell.substr(begin + 1, cell.find('`', begin + 1) - begin - 1);
}

std::vector<std::string> cut(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream rest(text);
  for (std::string part; std::getline(rest, part, at);)
    parts.emplace_back(trim(part));
  return parts;
}

} // namespace

std::vector<std::string> broken_rules(
    const SourceFile& file,
    const Names& torch_folders) {
  static const std::regex print(
      R"(\b(printf|fprintf|vprintf|puts|fputs|putchar|fwrite|perror)\s*\(|)"
      R"(\bstd::(cout|cerr|clog)\b)");
  static const std::regex leave(
      R"(\b(exit|_exit|_Exit|quick_exit|abort|terminate)\s*\()");
  static const std::regex system_switch(
      R"(^\s*#\s*(if|ifdef|ifndef|elif).*\b(__APPLE__|__linux__|__MACH__)\b)");
  std::vector<std::string> broken;
  const auto report = [&](int line, const std::string& rule) {
    broken.push_back(cat("temper/", file.path, ":", line, ": ", rule));
  };
  const Place place = place_of(file.path);
  const std::string unknown = unknown_place(place);
  if (!unknown.empty()) {
    report(1, unknown);
    return broken;
  }
  if (file.path.ends_with(".h") && !contains(file.text, "#pragma once"))
    report(1, "a header without #pragma once");
  const bool may_use_torch = torch_folders.count(place.text()) > 0 ||
      file.path == "libtorch/precompiled.h";

  std::istringstream lines(without_raw_strings(file.text));
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const std::string include = broken_include(place, line, may_use_torch);
    if (!include.empty()) report(number, include);
    if (is_directive(line) && std::regex_search(line, system_switch))
      report(number, "systems differ in *_linux.cpp and *_macos.cpp only");
    if (!may_print_or_exit(line)) continue;
    const std::string code = code_only(line);
    if (kMayPrint.count(file.path) == 0 && std::regex_search(code, print))
      report(number, "printing is up to the log sink and the console");
    if (kMayExit.count(file.path) == 0 && std::regex_search(code, leave))
      report(number, "leaving the program is up to main");
  }
  const std::string long_one = too_long(file);
  if (!long_one.empty()) report(number, long_one);
  return broken;
}

std::vector<std::string> broken_comments(const SourceFile& file) {
  static const std::regex fragment(
      R"(^\s*// *(Of|And|As|What|Who|Whom|Whose|Nothing)\b)");
  std::vector<std::string> broken;
  std::istringstream lines(without_raw_strings(file.text));
  bool inside = false;
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const bool begins = !std::exchange(inside, trim(line).starts_with("//"));
    std::smatch match;
    if (!inside || !begins || !std::regex_search(line, match, fragment))
      continue;
    broken.push_back(
        cat("temper/",
            file.path,
            ":",
            number,
            ": a comment that begins with \"",
            match.str(1),
            "\" does not say of what it speaks"));
  }
  return broken;
}

std::string too_long(const SourceFile& file) {
  constexpr int kLongest = 500;
  const auto lines = std::count(file.text.begin(), file.text.end(), '\n');
  return lines > kLongest ? cat("longer than ", kLongest, " lines") : "";
}

std::vector<std::string> broken_privacy(const std::vector<SourceFile>& tree) {
  static const std::regex mark(R"(\n// Private to ([a-z0-9_/]+)\.\n)");
  std::map<std::string, std::string> private_to; // by the header's path
  std::vector<std::string> broken;
  for (const SourceFile& file : tree) {
    if (!file.path.ends_with(".h")) continue;
    const std::string opening =
        cat("\n", file.text.substr(0, file.text.find("#pragma once")));
    std::smatch match;
    if (!std::regex_search(opening, match, mark)) {
      if (opening.find("Private") != std::string::npos)
        broken.push_back(
            cat("temper/",
                file.path,
                ": a private header says so on a line of its own: \"// Private "
                "to room/corner.\""));
      continue;
    }
    private_to[file.path] = match[1];
    if (!place_of(file.path).is_in(match[1]))
      broken.push_back(
          cat("temper/", file.path, ": it does not lie in ", match.str(1)));
  }
  each_include(
      tree, [&](const SourceFile& file, int line, const std::string& path) {
        const auto found = private_to.find(path);
        if (found == private_to.end()) return;
        if (place_of(file.path).is_in(found->second)) return;
        broken.push_back(
            cat("temper/",
                file.path,
                ":",
                line,
                ": ",
                path,
                " is private to ",
                found->second));
      });
  return broken;
}

std::vector<std::string> unused_arrows(const std::vector<SourceFile>& tree) {
  Names used;
  each_include(tree, [&](const SourceFile& file, int, const std::string& path) {
    const Place from = place_of(file.path);
    const Place to = place_of(path);
    used.insert(
        from.room != to.room ? cat(from.room, " -> ", to.room)
                             : cat(from.text(), " -> ", to.text()));
  });
  std::vector<std::string> unused;
  const auto ask = [&](const std::string& arrow) {
    if (used.count(arrow) == 0) unused.push_back(arrow);
  };
  for (const Room& room : rooms()) {
    for (const std::string& other : room.uses)
      ask(cat(room.name, " -> ", other));
    for (const Corner& corner : room.corners)
      for (const std::string& other : corner.uses)
        ask(
            cat(Place{room.name, corner.name, ""}.text(),
                " -> ",
                Place{room.name, other, ""}.text()));
  }
  return unused;
}

Names torch_folders_of(const std::string& cmake_lists) {
  const std::string opening = "set(torch_folders";
  const auto begin = cmake_lists.find(opening);
  if (begin == std::string::npos) return {};
  const auto end = cmake_lists.find(')', begin);
  std::istringstream words(
      cmake_lists.substr(begin + opening.size(), end - begin - opening.size()));
  Names folders;
  for (std::string word; words >> word;)
    folders.insert(word);
  return folders;
}

std::vector<Row> rows_of(
    const std::string& markdown,
    const std::string& heading) {
  std::vector<Row> rows;
  std::istringstream lines(markdown);
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (inside && !line.starts_with("|")) break;
    if (inside && !line.starts_with("|--")) {
      const auto cells = cut(line, '|');
      Row row{quoted(cells.at(1)), {}};
      for (const std::string& name : cut(cells.back(), ','))
        if (name != "–") row.uses.insert(quoted(name));
      rows.push_back(row);
    }
    inside = inside || line.starts_with(cat("| ", heading, " |"));
  }
  return rows;
}

} // namespace temper::rules
