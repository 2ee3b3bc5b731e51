// Data made up on the spot, `synthetic:SPEC`: any number of samples in no
// memory, each a pure function of its index, the same on every machine. There
// is something to learn in all of it, so that a run on it shows whether
// training works.
//
//   images=1000,size=32,channels=3,classes=10   waves that differ by class
//   rows=1000,features=20,classes=2             a cloud of points per class
//   rows=1000,features=20,targets=1             a linear rule and noise
//   tokens=100000,vocabulary=64,sequence=128    each token calls for the next
//
// seed=N gives other data of the same kind.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "temper/data/sample/open_options.h"
#include "temper/data/sample/source.h"

namespace temper::data {

struct SyntheticSpec {
  Input input = Input::image;
  Target target = Target::label;
  std::int64_t samples = 0;
  int size = 32; // of an image, both sides
  int channels = 3;
  int classes = 10;
  int features = 20;
  int targets = 0; // numbers to predict
  int vocabulary = 64;
  int sequence = 128;
  std::uint64_t seed = 0;
};

// Error for keys that do not exist (with the nearest), do not go together, or
// have impossible values.
SyntheticSpec parse_synthetic(std::string_view spec, int sequence);

class SyntheticSource : public IndexedSource {
 public:
  // `first` sets parts of one dataset apart: sample i is number first + i.
  SyntheticSource(SyntheticSpec spec, std::int64_t first, std::int64_t samples);

  const SourceInfo& info() const override {
    return info_;
  }
  std::int64_t size() const override {
    return samples_;
  }
  void read(std::int64_t index, Sample& sample) const override;
  std::optional<std::int64_t> label(std::int64_t index) const override;
  std::uint64_t fingerprint() const override;
  const Content* content() const override; // without files

 private:
  void make_image(std::int64_t number, Sample& sample) const;
  void make_row(std::int64_t number, Sample& sample) const;
  void make_tokens(std::int64_t number, Sample& sample) const;

  // The point of a class, feature by feature, or the factors of a target: what
  // every row of them shares.
  float shared(std::int64_t owner, std::size_t feature) const;

  SyntheticSpec spec_;
  SourceInfo info_;
  std::vector<float> shared_; // of all owners; empty: too many to keep
  std::int64_t first_;
  std::int64_t samples_;
};

Splits open_synthetic(std::string_view spec, const OpenOptions& options);

} // namespace temper::data
