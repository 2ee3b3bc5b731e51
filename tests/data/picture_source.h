// A source of pictures held in memory, for the tests of what works on any
// source: check, contact sheets. Any sample can be made bad.
#pragma once

#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "temper/base/text.h"
#include "temper/data/sample/source.h"

namespace temper::data {

struct Picture {
  int width = 4;
  int height = 4;
  int channels = 3;
  int value = 0; // of the first byte; the others follow from it
  std::int64_t label = 0;
};

class PictureSource : public IndexedSource {
 public:
  PictureSource(std::vector<Picture> pictures, std::vector<std::string> classes)
      : pictures_(std::move(pictures)) {
    info_.name = "pictures";
    info_.channels = 3;
    info_.classes = std::move(classes);
  }
  const SourceInfo& info() const override {
    return info_;
  }
  std::int64_t size() const override {
    return static_cast<std::int64_t>(pictures_.size());
  }
  void read(std::int64_t index, Sample& sample) const override {
    if (bad.count(index) > 0)
      throw BadSample(cat("[data] ", describe(index), " is broken."));
    if (index == fails_at) throw Error("[data] the disk is gone.");
    const auto& picture = pictures_[static_cast<std::size_t>(index)];
    sample.image.reshape(picture.width, picture.height, picture.channels);
    for (std::size_t i = 0; i < sample.image.bytes(); ++i)
      sample.image.pixels()[i] = static_cast<std::uint8_t>(
          static_cast<std::size_t>(picture.value) + i);
    sample.label = picture.label;
    sample.warnings = warnings;
  }
  std::string describe(std::int64_t index) const override {
    return cat("picture ", index);
  }
  std::uint64_t fingerprint() const override {
    return 1;
  }

  std::set<std::int64_t> bad;
  std::int64_t fails_at = -1;
  int warnings = 0;

 private:
  SourceInfo info_;
  std::vector<Picture> pictures_;
};

} // namespace temper::data
