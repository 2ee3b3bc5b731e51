// Arrays as a dataset, `npy:PATH`: a .npz, a folder of .npy files, or one .npy
// with its labels beside it (photos.npy, photos_labels.npy).
//
// Inputs: bytes shaped [N, H, W], [N, H, W, C] or [N, C, H, W] with C of 1 or 3
// are images; everything else is numbers. Targets: whole numbers shaped [N] or
// [N, 1] are labels, everything else is numbers to predict.
#pragma once

#include <filesystem>

#include "temper/data/npy.h"
#include "temper/data/open.h"
#include "temper/data/source.h"

namespace temper::data {

class NpySource : public IndexedSource {
 public:
  // Error when the two do not go together.
  NpySource(const std::string& name, NpyArray inputs, NpyArray targets);

  const SourceInfo& info() const override {
    return info_;
  }
  std::int64_t size() const override {
    return inputs_.header.shape[0];
  }
  void read(std::int64_t index, Sample& sample) const override;
  std::optional<std::int64_t> label(std::int64_t index) const override;
  std::string describe(std::int64_t index) const override;
  std::uint64_t fingerprint() const override {
    return fingerprint_;
  }
  // A part of a dataset may lack the highest classes that another has.
  void widen_classes(std::size_t count);

 private:
  void describe_inputs();
  void describe_targets();

  SourceInfo info_;
  NpyArray inputs_;
  NpyArray targets_;
  bool planes_ = false; // [N, C, H, W]
  std::uint64_t fingerprint_ = 0;
};

Splits open_npy(const std::filesystem::path& path, const OpenOptions& options);

} // namespace temper::data
