// Arrays as a dataset, `npy:PATH`: a .npz, a folder of .npy files, or one .npy
// with its labels beside it (photos.npy, photos_labels.npy).
//
// Inputs: bytes shaped [N, H, W], [N, H, W, C] or [N, C, H, W] with C of 1 or 3
// are images; everything else is numbers. Targets: whole numbers shaped [N] or
// [N, 1] are labels, rows of one 1 and else 0 are classes, everything else is
// numbers to predict.
#pragma once

#include <filesystem>

#include "temper/data/content/content.h"
#include "temper/data/format/npy.h"
#include "temper/data/sample/open_options.h"
#include "temper/data/sample/source.h"

namespace temper::data {

class NpySource : public IndexedSource {
 public:
  // Error when the two do not go together.
  NpySource(
      const std::string& name,
      NpyArray inputs,
      NpyArray targets,
      bool one_hot_is_class = true);

  const SourceInfo& info() const override {
    return info_;
  }
  std::int64_t size() const override {
    return inputs_.header.shape[0];
  }
  void read(std::int64_t index, Sample& sample) const override;
  std::optional<std::int64_t> label(std::int64_t index) const override;
  std::string describe(std::int64_t index) const override;
  std::uint64_t fingerprint() const override;
  const Content* content() const override {
    return &content_;
  }
  // A sentence about what the targets are taken for; empty: it is evident.
  const std::string& note() const {
    return note_;
  }

 private:
  void describe_inputs();
  void describe_targets();
  bool targets_are_one_hot() const;
  bool targets_are_bits() const; // rows of nothing but 0 and 1

  SourceInfo info_;
  NpyArray inputs_;
  NpyArray targets_;
  bool planes_ = false; // [N, C, H, W]
  bool one_hot_ = false; // a target is a row of zeros and a one
  std::string note_;
  Content content_;
};

Splits open_npy(const std::filesystem::path& path, const OpenOptions& options);

} // namespace temper::data
