#include "temper/data/source/text_source.h"

#include <algorithm>
#include <cmath>

#include "temper/base/digest/hash.h"
#include "temper/base/text.h"
#include "temper/data/format/utf8.h"
#include "temper/data/sample/schema.h"

namespace temper::data {
namespace {

constexpr std::size_t kMostCharacters = 65536; // ids have 16 bits
constexpr int kLongestSequence = 1 << 20;

[[noreturn]] void refuse_text(
    const std::string& name,
    const std::string& why,
    const std::string& hint = "") {
  throw Error(cat("[data] cannot use ", name, " as text: ", why, "."), hint);
}

std::vector<char32_t> code_points(const std::vector<std::string>& characters) {
  std::vector<char32_t> points;
  for (const std::string& character : characters) {
    std::size_t at = 0;
    const auto point = next_code_point(
        {reinterpret_cast<const std::uint8_t*>(character.data()),
         character.size()},
        at);
    if (!point || at != character.size())
      throw Error("[data] the schema's vocabulary has no single characters.");
    points.push_back(*point);
  }
  return points;
}

std::string shown_character(char32_t point) {
  constexpr char32_t kSpace = 32;
  constexpr char32_t kDelete = 127;
  if (point > kSpace && point != kDelete) return cat("'", to_utf8(point), "'");
  return cat("character ", static_cast<std::uint32_t>(point));
}

// Calls visit(code point) for each character.
template <class Visit>
void each_character(
    std::span<const std::uint8_t> text,
    const std::string& name,
    const Visit& visit) {
  for (std::size_t at = 0; at < text.size();) {
    const auto point = next_code_point(text, at);
    if (!point)
      refuse_text(
          name,
          cat("byte ",
              count_text(static_cast<std::int64_t>(at)),
              " is not UTF-8"),
          "Save it as UTF-8, or read it as bytes: text:PATH.");
    visit(*point);
  }
}

} // namespace

TextTokens::TextTokens(
    const std::filesystem::path& path,
    Unit unit,
    const std::vector<char32_t>* vocabulary)
    : name_(path.filename().string()),
      unit_(unit),
      content_(1, [path](std::size_t) {
        return ContentFile{path.filename().string(), path.string()};
      }) {
  file_.emplace(path);
  const auto text = file_->bytes();
  if (text.empty()) refuse_text(path.string(), "it is empty");
  if (unit_ == Unit::bytes) {
    file_->expect_random_access();
    return;
  }
  // First which characters there are and how many, then their numbers.
  std::vector<bool> seen(kCodePoints);
  std::size_t count = 0;
  each_character(text, path.string(), [&](char32_t point) {
    seen[point] = true;
    ++count;
  });
  if (vocabulary != nullptr) {
    characters_ = *vocabulary;
  } else {
    for (std::size_t point = 0; point < kCodePoints; ++point)
      if (seen[point]) characters_.push_back(static_cast<char32_t>(point));
  }
  if (characters_.size() > kMostCharacters)
    refuse_text(
        path.string(),
        cat("it has more than ",
            count_text(kMostCharacters),
            " different characters"),
        "Read it as bytes: text:PATH.");
  // Above every number: it has none.
  constexpr std::uint32_t kNone = kMostCharacters;
  std::vector<std::uint32_t> number(kCodePoints, kNone);
  for (std::size_t i = 0; i < characters_.size(); ++i)
    number[characters_[i]] = static_cast<std::uint32_t>(i);
  ids_.reserve(count);
  each_character(text, path.string(), [&](char32_t point) {
    if (number[point] == kNone)
      unseen_.add(shown_character(point));
    else if (ids_.size() < count) // as many as were counted, and no more
      ids_.push_back(static_cast<std::uint16_t>(number[point]));
  });
  file_.reset();
}

std::uint64_t TextTokens::fingerprint() const {
  Hasher hasher;
  hasher.add(content_.value());
  hasher.add(std::uint64_t{unit_ == Unit::bytes ? 0U : 1U});
  return hasher.value();
}

std::int64_t TextTokens::size() const {
  return static_cast<std::int64_t>(
      unit_ == Unit::bytes ? file_->size() : ids_.size());
}

int TextTokens::vocabulary() const {
  return unit_ == Unit::bytes ? 256 : static_cast<int>(characters_.size());
}

void TextTokens::copy(std::int64_t begin, std::int64_t count, std::int64_t* out)
    const {
  check(
      begin >= 0 && count >= 0 && begin + count <= size(),
      "a window is inside its text");
  if (unit_ == Unit::bytes)
    std::copy_n(file_->bytes().begin() + begin, count, out);
  else
    std::copy_n(ids_.begin() + begin, count, out);
}

TextSource::TextSource(
    std::shared_ptr<const TextTokens> tokens,
    std::int64_t begin,
    std::int64_t end,
    int sequence,
    int stride)
    : tokens_(std::move(tokens)), begin_(begin), stride_(stride) {
  check(
      sequence > 0 && stride > 0 && 0 <= begin && begin <= end &&
          end <= tokens_->size(),
      "a part of a text has windows inside it");
  // The last window needs one token more, for its target.
  const std::int64_t room = end - begin - sequence - 1;
  size_ = room < 0 ? 0 : room / stride + 1;
  info_.name = cat("text:", tokens_->name());
  info_.input = Input::tokens;
  info_.target = Target::tokens;
  info_.shape = {sequence};
  info_.target_size = sequence;
  info_.vocabulary = tokens_->vocabulary();
}

void TextSource::read(std::int64_t index, Sample& sample) const {
  check(0 <= index && index < size_, "a window is inside its source");
  const std::int64_t from = begin_ + index * stride_;
  const std::int64_t length = info_.shape[0];
  sample.tokens.resize(static_cast<std::size_t>(length));
  sample.target_tokens.resize(static_cast<std::size_t>(length));
  tokens_->copy(from, length, sample.tokens.data());
  std::copy(
      sample.tokens.begin() + 1,
      sample.tokens.end(),
      sample.target_tokens.begin());
  tokens_->copy(from + length, 1, &sample.target_tokens.back());
}

std::string TextSource::describe(std::int64_t index) const {
  return cat(tokens_->name(), " from token ", begin_ + index * stride_);
}

std::uint64_t TextSource::fingerprint() const {
  Hasher hasher;
  hasher.add(tokens_->fingerprint());
  for (const std::int64_t part :
       {begin_, size_, std::int64_t{stride_}, info_.shape[0]})
    hasher.add(static_cast<std::uint64_t>(part));
  return hasher.value();
}

Splits open_text(const std::string& place, const OpenOptions& options) {
  auto unit = TextTokens::Unit::bytes;
  std::string path = place;
  if (place.starts_with("chars:")) {
    unit = TextTokens::Unit::characters;
    path = place.substr(6);
  } else if (place.starts_with("bytes:")) {
    path = place.substr(6);
  }
  const int sequence = options.sequence;
  if (sequence < 1 || sequence > kLongestSequence)
    throw Error(
        cat("[data] a window of ", sequence, " tokens is impossible."),
        cat("data.sequence is 1 to ", count_text(kLongestSequence), "."));
  const bool in_characters = unit == TextTokens::Unit::characters;
  const std::string kind = in_characters ? "characters" : "bytes";
  std::vector<char32_t> known;
  const Schema* schema = options.schema.get();
  if (schema != nullptr && schema->tokens != kind)
    refuse_text(
        path,
        cat("training has ", schema->tokens, ", and these are ", kind),
        "Name both with text:chars:PATH, or both with text:PATH.");
  if (schema != nullptr) known = code_points(schema->vocabulary);
  auto tokens = std::make_shared<TextTokens>(
      path, unit, schema != nullptr && in_characters ? &known : nullptr);
  const Unseen& unseen = tokens->unseen();
  Splits parts;
  if (!unseen.empty()) {
    const std::string what =
        cat(count_text(unseen.total()),
            " characters of ",
            path,
            " are not in the training text: ",
            unseen.text());
    if (options.unseen_is_error)
      throw Error(
          cat("[data] ", what, "."),
          "Set data.unseen = \"note\" to leave them out.");
    parts.notes.push_back(cat(what, "; they are left out"));
  }
  Schema draft;
  draft.tokens = kind;
  for (const char32_t point : tokens->characters())
    draft.vocabulary.push_back(to_utf8(point));
  parts.schema = std::make_shared<const Schema>(std::move(draft));
  const std::int64_t size = tokens->size();
  const double fraction =
      options.whole ? 0.0 : std::clamp(options.val_fraction, 0.0, 1.0);
  const auto middle = static_cast<std::int64_t>(
      std::llround(static_cast<double>(size) * (1.0 - fraction)));
  auto train =
      std::make_shared<TextSource>(tokens, 0, middle, sequence, sequence);
  if (train->size() == 0)
    refuse_text(
        path,
        cat(options.whole ? "all of it, " : "its training part, ",
            plural(middle, "token"),
            ", is shorter than a window of ",
            sequence,
            " and the token after it"),
        "Use more text, or a smaller data.sequence.");
  auto val =
      std::make_shared<TextSource>(tokens, middle, size, sequence, sequence);
  parts.train = std::move(train);
  if (val->size() > 0) parts.val = std::move(val);
  return parts;
}

} // namespace temper::data
