#include "temper/data/format/csv.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/data/format/utf8.h"

namespace temper::data {
namespace {

bool is_padding(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

std::string_view without_blanks(std::string_view field) {
  while (!field.empty() && is_padding(field.front()))
    field.remove_prefix(1);
  while (!field.empty() && is_padding(field.back()))
    field.remove_suffix(1);
  return field;
}

} // namespace

char detect_delimiter(std::string_view text) {
  constexpr std::array<char, 3> kDelimiters{',', ';', '\t'};
  std::array<std::size_t, 3> counts{};
  bool inside = false;
  bool any = false;
  for (const char c : text) {
    if (c == '"') inside = !inside;
    if (inside) continue;
    if (c == '\n' && any) break;
    any = any || (c != '\n' && c != '\r');
    for (std::size_t i = 0; i < kDelimiters.size(); ++i)
      if (c == kDelimiters[i]) ++counts[i];
  }
  const auto most = std::max_element(counts.begin(), counts.end());
  return kDelimiters[static_cast<std::size_t>(most - counts.begin())];
}

std::string_view
csv_text(std::string_view file, const std::string& name, std::string& recoded) {
  if (file.starts_with("\xff\xfe") || file.starts_with("\xfe\xff"))
    throw Error(
        cat("[data] cannot read ", name, ": it is UTF-16."),
        "Save it as UTF-8.");
  if (file.starts_with("\xef\xbb\xbf")) file.remove_prefix(3);
  recoded.clear();
  if (is_utf8(file)) return file;
  recoded = utf8_of_windows_1252(file);
  return recoded;
}

CsvReader::CsvReader(std::string_view text, char delimiter, std::string name)
    : text_(text), delimiter_(delimiter), name_(std::move(name)) {}

void CsvReader::refuse(const std::string& why) const {
  throw Error(
      cat("[data] cannot read ", name_, " line ", row_line_, ": ", why, "."));
}

// The quote is at_; leaves at_ behind the closing one.
std::string_view CsvReader::quoted_field() {
  const std::size_t begin = ++at_;
  std::string* copy = nullptr;
  std::size_t copied = begin;
  for (;;) {
    const auto quote = text_.find('"', at_);
    if (quote == std::string_view::npos)
      refuse("a quote opens here and does not close");
    line_ += std::count(
        text_.begin() + static_cast<std::ptrdiff_t>(at_),
        text_.begin() + static_cast<std::ptrdiff_t>(quote),
        '\n');
    at_ = quote + 1;
    const bool doubled = at_ < text_.size() && text_[at_] == '"';
    if (!doubled && copy == nullptr) return text_.substr(begin, quote - begin);
    if (copy == nullptr) {
      if (used_ == unescaped_.size()) unescaped_.emplace_back();
      copy = &unescaped_[used_++];
      copy->clear();
    }
    copy->append(text_.substr(copied, (doubled ? at_ : quote) - copied));
    if (!doubled) return *copy;
    copied = ++at_;
  }
}

std::string_view CsvReader::plain_field() {
  const std::size_t begin = at_;
  while (at_ < text_.size() && text_[at_] != delimiter_ && text_[at_] != '\n')
    ++at_;
  return without_blanks(text_.substr(begin, at_ - begin));
}

bool CsvReader::next(std::vector<std::string_view>& fields) {
  fields.clear();
  used_ = 0;
  // Blank lines say nothing, wherever they are.
  for (;;) {
    const auto end = text_.find_first_not_of(" \r", at_);
    if (end == std::string_view::npos) return false;
    if (text_[end] != '\n') break;
    at_ = end + 1;
    ++line_;
  }
  row_line_ = line_;
  for (;;) {
    std::size_t look = at_;
    while (look < text_.size() && text_[look] == ' ')
      ++look;
    if (look < text_.size() && text_[look] == '"') {
      at_ = look;
      fields.push_back(quoted_field());
      if (!plain_field().empty()) refuse("text follows a closing quote");
    } else {
      fields.push_back(plain_field());
    }
    if (fields.size() > kMostCsvColumns) refuse("it has too many columns");
    const bool more = at_ < text_.size() && text_[at_] == delimiter_;
    if (at_ < text_.size() && text_[at_] == '\n') ++line_;
    if (at_ < text_.size()) ++at_;
    if (!more) return true;
  }
}

bool is_missing(std::string_view field) {
  // Numbers, which most fields are, leave at once.
  if (field.size() > 4 ||
      (!field.empty() && field[0] >= '0' && field[0] <= '9'))
    return false;
  if (field.empty() || field == "?") return true;
  const std::string word = lower(field);
  return word == "na" || word == "n/a" || word == "nan" || word == "null";
}

} // namespace temper::data
