// Batches of a run whose model has a frozen part: features that were kept, or
// computed as the samples come, and from the epoch on in which everything
// trains the samples themselves. Order and resume are those of the samples in
// all three. No torch.
// Private to train/transfer.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "temper/train/engine/features.h"
#include "temper/train/setup/batches.h"

namespace temper::train {

// Training's batches know the epoch; validation's and the engine follow.
struct TransferPhase {
  bool unfrozen = false;
};

struct TransferBatchesParts {
  // The samples themselves; null when all features are kept and nothing is
  // unfrozen.
  std::unique_ptr<Batches> samples;
  // Kept features, a source for each view; the epochs go round. Empty: they
  // are computed as the samples come.
  std::vector<std::shared_ptr<const data::IndexedSource>> views;
  data::LoaderOptions loader; // for the views
  std::uint64_t samples_pipeline = 0; // pipeline_hash of the samples
  std::shared_ptr<FeatureExtractor> extractor; // null: samples pass through
  std::uint32_t unfreeze_after = 0; // epochs; 0: never
  std::shared_ptr<TransferPhase> phase;
  bool is_training = false; // these are training's
};

std::unique_ptr<Batches> transfer_batches(TransferBatchesParts parts);

} // namespace temper::train
