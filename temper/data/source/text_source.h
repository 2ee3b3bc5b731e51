// `text:PATH`: text as windows of tokens for next-token prediction. A token is
// a byte (`text:PATH`, nothing in memory but the mapping) or a character
// (`text:chars:PATH`, Unicode code points numbered in order, two bytes each).
//
// Sample i is the tokens from i * stride; its target is the same window one
// token further. The first part of the text trains, the rest validates: what
// lies between two windows is never in both.
#pragma once

#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "temper/base/file/mapped_file.h"
#include "temper/data/content/content.h"
#include "temper/data/sample/open_options.h"
#include "temper/data/sample/source.h"
#include "temper/data/sample/unseen.h"

namespace temper::data {

// A text as numbers, shared by its parts.
class TextTokens {
 public:
  enum class Unit { bytes, characters };
  // `vocabulary`: the characters that count, others are left out; null: all
  // that there are. Error when it is empty, or in characters, not UTF-8.
  TextTokens(
      const std::filesystem::path& path,
      Unit unit,
      const std::vector<char32_t>* vocabulary = nullptr);

  std::int64_t size() const;
  int vocabulary() const;
  // The character of each token, when tokens are characters; empty for bytes.
  const std::vector<char32_t>& characters() const {
    return characters_;
  }
  const std::string& name() const {
    return name_;
  }
  // Characters that the vocabulary lacks.
  const Unseen& unseen() const {
    return unseen_;
  }
  std::uint64_t fingerprint() const;
  const Content& content() const {
    return content_;
  }
  void copy(std::int64_t begin, std::int64_t count, std::int64_t* out) const;

 private:
  std::string name_;
  std::optional<MappedFile> file_; // of bytes; characters have ids
  Unit unit_;
  std::vector<std::uint16_t> ids_;
  std::vector<char32_t> characters_;
  Unseen unseen_;
  Content content_;
};

class TextSource : public IndexedSource {
 public:
  // The windows that lie in tokens [begin, end), targets included.
  TextSource(
      std::shared_ptr<const TextTokens> tokens,
      std::int64_t begin,
      std::int64_t end,
      int sequence,
      int stride);

  const SourceInfo& info() const override {
    return info_;
  }
  std::int64_t size() const override {
    return size_;
  }
  void read(std::int64_t index, Sample& sample) const override;
  std::string describe(std::int64_t index) const override;
  std::uint64_t fingerprint() const override;
  const Content* content() const override {
    return &tokens_->content();
  }

 private:
  SourceInfo info_;
  std::shared_ptr<const TextTokens> tokens_;
  std::int64_t begin_ = 0;
  int stride_ = 0;
  std::int64_t size_ = 0;
};

// `place` is what follows "text:": a path, after "chars:" or "bytes:".
Splits open_text(const std::string& place, const OpenOptions& options);

} // namespace temper::data
