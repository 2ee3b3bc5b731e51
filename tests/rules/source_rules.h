// The rules of the tree that a compiler does not check: which room and corner
// may include which, where torch may be included, who may print or exit. Each
// is a pure function of files' texts, so that the rules themselves are tested.
#pragma once

#include <string>
#include <vector>

#include "rooms.h"

namespace temper::rules {

struct SourceFile {
  std::string path; // below temper/: "machine/probe.h"
  std::string text;
};

// The rules that one file breaks, one line each: "machine/probe.h:12: ...".
// Empty: it keeps them.
std::vector<std::string> broken_rules(
    const SourceFile& file,
    const Names& torch_folders);

// Comments of a header that begin with a word which leaves out its subject: "Of
// all four." above hash() does not tell what hash() is. A block of lines counts
// as one comment; one at the end of a line of code goes on from its name.
std::vector<std::string> broken_comments(const SourceFile& file);

// Empty: a file of code is short enough.
std::string too_long(const SourceFile& file);

// Includes of a header from outside the room or corner that its opening comment
// names in a line of its own: "// Private to data/loader."
std::vector<std::string> broken_privacy(const std::vector<SourceFile>& tree);

// Arrows of the table that no include needs: "graph -> machine",
// "data/codec -> data/format".
std::vector<std::string> unused_arrows(const std::vector<SourceFile>& tree);

// The folders CMake builds with torch: set(torch_folders ...) of its list.
Names torch_folders_of(const std::string& cmake_lists);

// A row of a table for people.
struct Row {
  std::string name;
  Names uses;

  friend bool operator==(const Row&, const Row&) = default;
};

// The table below the line that begins with `| heading |`: names in its first
// column, what they may use in its last. Empty when there is none.
std::vector<Row> rows_of(
    const std::string& markdown,
    const std::string& heading);

} // namespace temper::rules
