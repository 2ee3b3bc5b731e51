// Classes, categories and characters that other data has and the training part
// lacks, counted by name for a note or an error (data.unseen).
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace temper::data {

class Unseen {
 public:
  void add(const std::string& name, std::int64_t count = 1);
  bool empty() const {
    return counts_.empty();
  }
  std::int64_t total() const;
  // The most frequent ones first: "horse (20), cow (3) and 4 more".
  std::string text() const;

 private:
  std::map<std::string, std::int64_t> counts_;
};

} // namespace temper::data
