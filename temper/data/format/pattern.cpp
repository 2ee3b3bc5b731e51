#include "temper/data/format/pattern.h"

#include <glob.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>

#include "temper/base/error.h"
#include "temper/base/text.h"

namespace temper::data {
namespace {

constexpr std::size_t kMostNames = 100'000;

[[noreturn]] void refuse_pattern(const std::string& pattern, const char* why) {
  throw Error(
      cat("[data] cannot use the pattern ", pattern, ": ", why, "."),
      "Write braces as {000..009} or {a,b}.");
}

// "000..009", with the zeros of the first number kept.
std::optional<std::vector<std::string>> expand_range(
    const std::string& pattern,
    const std::string& inside) {
  const auto dots = inside.find("..");
  if (dots == std::string::npos ||
      inside.find_first_of("{,") != std::string::npos)
    return std::nullopt;
  const std::string low_text = inside.substr(0, dots);
  const auto low = parse_int(low_text);
  const auto high = parse_int(inside.substr(dots + 2));
  if (!low || !high || *low < 0 || *high < *low)
    refuse_pattern(pattern, "a range is two numbers, the smaller one first");
  if (static_cast<std::size_t>(*high - *low) >= kMostNames)
    refuse_pattern(pattern, "it gives too many names");
  std::vector<std::string> names;
  for (std::int64_t number = *low; number <= *high; ++number) {
    std::string text = std::to_string(number);
    if (text.size() < low_text.size())
      text.insert(0, low_text.size() - text.size(), '0');
    names.push_back(std::move(text));
  }
  return names;
}

// At the commas that are in no inner braces.
std::vector<std::string> split_list(const std::string& inside) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : inside) {
    depth += c == '{' ? 1 : c == '}' ? -1 : 0;
    if (c == ',' && depth == 0)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

std::size_t closing(const std::string& pattern, std::size_t open) {
  int depth = 0;
  for (std::size_t at = open; at < pattern.size(); ++at) {
    depth += pattern[at] == '{' ? 1 : pattern[at] == '}' ? -1 : 0;
    if (depth == 0) return at;
  }
  refuse_pattern(pattern, "a brace is not closed");
}

void expand_into(const std::string& pattern, std::vector<std::string>& names) {
  const auto open = pattern.find('{');
  if (open == std::string::npos) {
    if (names.size() == kMostNames)
      refuse_pattern(pattern, "it gives too many names");
    names.push_back(pattern);
    return;
  }
  const std::size_t close = closing(pattern, open);
  const std::string inside = pattern.substr(open + 1, close - open - 1);
  auto parts = expand_range(pattern, inside);
  if (!parts) parts = split_list(inside);
  for (const std::string& part : *parts)
    expand_into(
        cat(pattern.substr(0, open), part, pattern.substr(close + 1)), names);
}

std::vector<std::string> match(const std::string& pattern) {
  glob_t found{};
  std::vector<std::string> names;
  if (::glob(pattern.c_str(), 0, nullptr, &found) == 0)
    names.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  std::sort(names.begin(), names.end());
  return names;
}

// The words of the last folder and of the name.
std::set<std::string> words_of(const std::string& file) {
  const std::filesystem::path path(file);
  const std::string text = lower(cat(
      path.parent_path().filename().string(), "/", path.filename().string()));
  std::set<std::string> words;
  std::string word;
  for (const char c : text + "/") {
    if (std::isalpha(static_cast<unsigned char>(c)) != 0) {
      word += c;
    } else {
      words.insert(std::exchange(word, ""));
    }
  }
  return words;
}

} // namespace

std::vector<std::string> expand_braces(const std::string& pattern) {
  std::vector<std::string> names;
  expand_into(pattern, names);
  return names;
}

std::vector<std::string> expand_pattern(const std::string& pattern) {
  std::vector<std::string> files;
  for (const std::string& name : expand_braces(pattern)) {
    if (std::filesystem::exists(name)) {
      files.push_back(name);
      continue;
    }
    const auto found = match(name);
    const bool wild = name.find_first_of("*?[") != std::string::npos;
    if (found.empty() && !wild)
      throw Error(
          cat("[data] there is no file ", name, "."),
          "Check the path and the range of its pattern.");
    files.insert(files.end(), found.begin(), found.end());
  }
  if (files.empty())
    throw Error(
        cat("[data] no file matches ", pattern, "."),
        "Check the path; quote it if the shell expands it.");
  return files;
}

ShardParts part_by_name(const std::vector<std::string>& files) {
  ShardParts parts;
  for (const std::string& file : files) {
    const auto words = words_of(file);
    const auto has = [&](const char* word) { return words.count(word) > 0; };
    if (has("train") || has("training"))
      parts.train.push_back(file);
    else if (has("val") || has("valid") || has("validation"))
      parts.val.push_back(file);
    else if (has("test"))
      parts.test.push_back(file);
  }
  if (parts.train.empty() || (parts.val.empty() && parts.test.empty()))
    return {files, {}, {}};
  return parts;
}

} // namespace temper::data
