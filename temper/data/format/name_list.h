// Many names in little memory: their characters in a few large blocks and a
// pointer each, so that a million files cost some thirty megabytes. Used by
// the sources made of files.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

namespace temper::data {

class NameList {
 public:
  // A copy of the text that lives as long as the list; not yet in it.
  const char* keep(std::string_view text);
  // Appends what keep() returned.
  void append(const char* kept) {
    names_.push_back(kept);
  }
  void add(std::string_view text) {
    append(keep(text));
  }
  std::string_view operator[](std::size_t index) const {
    return names_[index];
  }
  std::size_t size() const {
    return names_.size();
  }

 private:
  static constexpr std::size_t kBlock = std::size_t{256} << 10;

  std::vector<std::unique_ptr<char[]>> blocks_;
  std::size_t used_ = kBlock; // of the last block
  std::vector<const char*> names_;
};

} // namespace temper::data
