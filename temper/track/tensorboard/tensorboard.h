// TensorBoard's event files: metrics as scalars, pictures among the artifacts
// as images, incidents and the config as text, the settings as hparams. One
// file a run, only ever appended to.
#pragma once

#include <string>

#include "temper/base/process/spawn.h"
#include "temper/track/tracker.h"

namespace temper::track {

class TensorBoard : public Tracker {
 public:
  explicit TensorBoard(
      std::filesystem::path folder,
      ReadHistograms histograms = {});

  std::string where() const override;
  bool begin(const RunFacts& run, const std::string& memory) override;
  void deliver(const Delivery& batch) override;
  // The file, and how much of it is delivered: what a crash left behind that
  // was written again.
  std::string memory() const override;

 private:
  void append(const std::string& records);
  std::string histograms_of(const SavedWeights& weights) const;

  std::filesystem::path folder_;
  ReadHistograms histograms_; // empty: none are wanted
  std::string name_; // of the file
  std::uint64_t size_ = 0;
  Descriptor file_;
};

} // namespace temper::track
