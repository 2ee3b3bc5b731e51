#include "temper/data/open/source_name.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "temper/base/error.h"
#include "temper/base/file/nearest_file.h"
#include "temper/base/nearest.h"
#include "temper/base/text.h"
#include "temper/data/fetch/locate.h"
#include "temper/data/open/open.h"

namespace temper::data {
namespace {

namespace fs = std::filesystem;

// "cifar10", or "csv:" of "csv:PATH".
std::vector<std::string> keys() {
  std::vector<std::string> all;
  for (const SourceKind& kind : source_kinds()) {
    const auto colon = kind.name.find(':');
    all.push_back(
        colon == std::string::npos ? kind.name
                                   : kind.name.substr(0, colon + 1));
  }
  return all;
}

// "csv:PATH" of "csv:".
std::string shown_name(const std::string& key) {
  for (const SourceKind& kind : source_kinds())
    if (kind.name.starts_with(key)) return kind.name;
  return key;
}

// A named dataset may say where it is: cifar10:PATH.
bool has_kind(const std::string& name) {
  return std::ranges::any_of(keys(), [&](const std::string& key) {
    return key.back() == ':' ? name.starts_with(key)
                             : name == key || name.starts_with(key + ":");
  });
}

// By the ending of a file; empty: it says nothing.
std::string kind_of_file(const fs::path& path) {
  const std::string ending = lower(path.extension().string());
  if (ending == ".csv" || ending == ".tsv") return "csv:";
  if (ending == ".tpk") return "pack:";
  if (ending == ".tar") return "tar:";
  if (ending == ".npy" || ending == ".npz") return "npy:";
  if (ending == ".txt") return "text:";
  if (ending.starts_with(".tfrecord")) return "tfrecord:";
  return "";
}

// The named dataset whose files a folder holds; empty: none.
std::string dataset_folder(const std::string& name) {
  const std::vector<std::string> held = datasets_in(name);
  if (held.size() == 1) return cat(held.front(), ":", name);
  if (held.empty()) return "";
  std::vector<std::string> choices;
  for (const std::string& each : held)
    choices.push_back(cat(each, ":", name));
  throw Error(
      cat("[data] ",
          name,
          " may be ",
          join(held, " or "),
          ": they look alike."),
      cat("Say which it is: ", join(choices, " or "), "."));
}

// A folder of folders has a class in each. One without holds arrays or shards,
// and whatever else is in it is said by the reader of class folders.
std::string named_folder(const std::string& name) {
  if (std::string dataset = dataset_folder(name); !dataset.empty())
    return dataset;
  std::error_code unreadable;
  std::string held; // the kind of its files
  for (const auto& entry : fs::directory_iterator(name, unreadable)) {
    std::error_code failure;
    const std::string file = entry.path().filename().string();
    if (file.starts_with(".")) continue;
    if (entry.is_directory(failure)) return "folder:" + name;
    const std::string kind = kind_of_file(entry.path());
    if (kind == "npy:" && entry.path().extension() == ".npy") held = kind;
    if (held.empty() && kind == "tar:") held = kind;
  }
  if (held == "npy:") return held + name;
  if (held == "tar:") return (fs::path(held + name) / "*.tar").string();
  return "folder:" + name;
}

} // namespace

std::string with_kind(const std::string& name) {
  if (name.empty() || has_kind(name)) return name;
  std::error_code unreadable;
  if (fs::is_directory(name, unreadable)) return named_folder(name);
  if (contains(name, ":") && !fs::exists(name, unreadable)) return name;
  // Shards may be a pattern, and a file may be missing: its reader says so.
  return kind_of_file(name) + name;
}

void refuse_source_name(const std::string& name) {
  const auto colon = name.find(':');
  const bool has_rest = colon != std::string::npos;
  const std::string word = has_rest ? name.substr(0, colon + 1) : name;
  const std::string rest = has_rest ? name.substr(colon + 1) : "";
  std::error_code unreadable;
  std::string hint;
  if (const auto close = nearest(word, keys()))
    hint = cat(
        "Did you mean ", rest.empty() ? shown_name(*close) : *close, rest, "?");
  else if (fs::exists(name, unreadable))
    hint =
        cat("Say what it is by the kind before its path: ",
            join(keys(), ", "),
            ".");
  else if (const auto file = nearest_file(name); file && !has_rest)
    hint = cat("Did you mean ", *file, "?");
  else
    hint =
        cat("There are ",
            join(keys(), ", "),
            ", and no file or folder of that name.");
  throw Error(cat("[data] no data source '", name, "'."), hint);
}

} // namespace temper::data
