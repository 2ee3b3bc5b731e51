#include "temper/train/run/run_contents.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "temper/base/error.h"
#include "temper/base/file/atomic_file.h"
#include "temper/base/file/file.h"
#include "temper/base/log.h"
#include "temper/base/random/permutation.h"
#include "temper/base/text.h"
#include "temper/data/content/content.h"

// The file has one line for each part of the data (train, val, test), followed
// by one for each of its files. Of very many files, one line stands for a
// folder of them: every run has such a list.

namespace temper::train {
namespace {

using nlohmann::json;

constexpr const char* kTest = "test";
constexpr std::size_t kMostLines = 50'000;
constexpr std::size_t kMostBytes = std::size_t{64} << 20;
constexpr std::size_t kMostNamed = 3;

struct SampleLine {
  std::string name;
  std::uint64_t bytes = 0;
  std::uint64_t sum = 0;
  std::int64_t modified_ns = 0;
};

struct Part {
  std::string name; // "train", "val", "test"
  std::string source;
  std::uint64_t fingerprint = 0;
  bool was_read = true; // sums are of contents
  std::vector<SampleLine> lines;
};

std::string folder_of(const std::string& name) {
  const auto slash = name.rfind('/');
  return slash == std::string::npos ? name : name.substr(0, slash + 1);
}

std::vector<SampleLine> lines_of(const data::Content& content) {
  const bool by_folder = content.size() > kMostLines;
  std::vector<SampleLine> lines;
  for (std::size_t i = 0; i < content.size(); ++i) {
    const data::FilePrint& print = content.prints()[i];
    const std::string name = content.file(i).name;
    SampleLine line{
        by_folder ? folder_of(name) : name,
        print.bytes,
        print.sum,
        print.modified_ns};
    if (!by_folder || lines.empty() || lines.back().name != line.name) {
      lines.push_back(std::move(line));
      continue;
    }
    SampleLine& all = lines.back();
    all.bytes += line.bytes;
    all.sum = mix64(all.sum) ^ line.sum;
    all.modified_ns = std::max(all.modified_ns, line.modified_ns);
  }
  return lines;
}

std::vector<Part> parts_of(const RunData& data) {
  std::vector<Part> parts;
  const data::Content* listed = nullptr;
  const auto add = [&](const char* name, const data::IndexedSource* source) {
    if (source == nullptr) return;
    Part part{name, source->info().name, source->fingerprint(), true, {}};
    const data::Content* content = source->content();
    if (content != nullptr) part.was_read = content->was_read();
    // Two parts of one source have the same files.
    if (content != nullptr && content != listed)
      part.lines = lines_of(*content);
    listed = content;
    parts.push_back(std::move(part));
  };
  add("train", data.train.get());
  add("val", data.val.get());
  add(kTest, data.test.get());
  return parts;
}

std::string hex(std::uint64_t value) {
  return cat(std::hex, value);
}

std::uint64_t from_hex(const json& value) {
  return std::stoull(value.get<std::string>(), nullptr, 16);
}

std::string text_of(const std::vector<Part>& parts) {
  std::string text;
  const auto add = [&](const json& line) {
    text += line.dump(-1, ' ', false, json::error_handler_t::replace);
    text += '\n';
  };
  for (const Part& part : parts) {
    add(
        {{"part", part.name},
         {"source", part.source},
         {"fingerprint", hex(part.fingerprint)},
         {"read", part.was_read}});
    for (const SampleLine& line : part.lines)
      add(
          {{"file", line.name},
           {"bytes", line.bytes},
           {"sum", hex(line.sum)},
           {"modified_ns", line.modified_ns}});
  }
  return text;
}

std::optional<std::vector<Part>> read_parts(const std::string& text) {
  std::vector<Part> parts;
  try {
    for (const std::string& each : split(text, '\n')) {
      if (each.empty()) continue;
      const json line = json::parse(each);
      if (line.contains("part"))
        parts.push_back(
            {line.at("part"),
             line.at("source"),
             from_hex(line.at("fingerprint")),
             line.at("read"),
             {}});
      else
        parts.at(parts.size() - 1)
            .lines.push_back(
                {line.at("file"),
                 line.at("bytes"),
                 from_hex(line.at("sum")),
                 line.at("modified_ns")});
    }
  } catch (const std::exception&) {
    return std::nullopt;
  }
  return parts;
}

struct Differences {
  std::vector<std::string> changed;
  std::vector<std::string> gone;
  std::vector<std::string> added;
  std::vector<std::string> touched; // by its time; what it holds is not known
};

Differences differences(const Part& was, const Part& now) {
  Differences found;
  std::map<std::string, const SampleLine*> before;
  for (const SampleLine& line : was.lines)
    before[line.name] = &line;
  for (const SampleLine& line : now.lines) {
    const auto same = before.find(line.name);
    if (same == before.end()) {
      found.added.push_back(line.name);
      continue;
    }
    const SampleLine& old = *same->second;
    if (old.bytes != line.bytes ||
        (was.was_read && now.was_read && old.sum != line.sum))
      found.changed.push_back(line.name);
    else if (!now.was_read && old.modified_ns != line.modified_ns)
      found.touched.push_back(line.name);
    before.erase(same);
  }
  for (const auto& [name, line] : before)
    found.gone.push_back(name);
  return found;
}

// "a.jpg", "a.jpg and b.jpg", "a.jpg, b.jpg, c.jpg and 7 more".
std::string names_text(const std::vector<std::string>& names) {
  if (names.size() <= 1) return join(names, "");
  const std::size_t shown = std::min(kMostNamed, names.size());
  std::string text = names[0];
  for (std::size_t i = 1; i < shown; ++i)
    text += cat(i + 1 == names.size() ? " and " : ", ", names[i]);
  if (names.size() > shown) text += cat(" and ", names.size() - shown, " more");
  return text;
}

std::string differences_text(const Differences& found) {
  std::vector<std::string> said;
  const auto say = [&](const std::vector<std::string>& names,
                       const char* one,
                       const char* many) {
    if (!names.empty())
      said.push_back(
          cat(names_text(names), " ", names.size() == 1 ? one : many));
  };
  say(found.changed, "has changed", "have changed");
  say(found.gone, "is gone", "are gone");
  say(found.added, "is new", "are new");
  return join(said, ", ");
}

// A validation part may be of the files that train, listed there.
Part with_files(const Part& part, const std::vector<Part>& all) {
  Part made = part;
  if (made.lines.empty() && !all.empty()) made.lines = all.front().lines;
  return made;
}

void check_part(
    const journal::RunDirectory& directory,
    const Part& was,
    const Part& now) {
  const Differences found = differences(was, now);
  const bool same = was.fingerprint == now.fingerprint;
  // A file by another name may hold the same; a pack has its source's print.
  if (same && found.changed.empty()) {
    if (!found.touched.empty())
      log::warn(
          cat("[data] ",
              names_text(found.touched),
              " of ",
              now.source,
              found.touched.size() == 1 ? " has" : " have",
              " another time than when the run began, and ",
              now.source,
              " is too large for its contents to have been noted: if they are "
              "others now, so is the result."));
    return;
  }
  const std::string what = differences_text(found);
  // Read in another way, or in another order; the loader has words for it.
  if (what.empty()) return;
  if (now.name == kTest) { // no weight depends on it
    log::warn(
        cat("[data] ",
            what,
            " since the run began (",
            now.source,
            "): it is tested on the data as it is now."));
    return;
  }
  throw Error(
      cat("[data] cannot go on where the run stopped: ",
          what,
          " since it began (",
          now.source,
          ")."),
      cat("Put the data back as it was, or start a new run; model.weights = \"",
          directory.path.string(),
          "\" lets it begin with the weights of this one."));
}

} // namespace

void keep_contents(
    const journal::RunDirectory& directory,
    const RunData& data) {
  write_file_atomically(directory.data(), text_of(parts_of(data)));
}

void check_contents(
    const journal::RunDirectory& directory,
    const RunData& data) {
  const auto text = read_small_file(directory.data(), kMostBytes);
  if (!text) return;
  const auto kept = read_parts(*text);
  if (!kept) {
    log::warn(
        cat(directory.data().string(),
            " cannot be read: should the data have changed, nobody can say "
            "where."));
    return;
  }
  const std::vector<Part> now = parts_of(data);
  for (const Part& part : now)
    for (const Part& before : *kept)
      if (before.name == part.name)
        check_part(directory, with_files(before, *kept), with_files(part, now));
}

} // namespace temper::train
