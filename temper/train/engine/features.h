// The extractor, which runs the frozen part of a model: the seam between the
// feature cache, which needs no torch, and LibTorch (torch_features.cpp).
// absent.cpp answers for a build without one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "temper/data/loader/loader.h"
#include "temper/graph/ir/program.h"
#include "temper/train/setup/run_data.h"

namespace temper::train {

class FeatureExtractor {
 public:
  virtual ~FeatureExtractor() = default;
  // The shape of one sample's features.
  virtual const std::vector<std::int64_t>& shape() const = 0;
  // Fills batch.size x shape. A sample's features do not depend on its
  // neighbours or its place: every forward pass has the same shape, padded
  // where samples are missing, and a shape in which places differ is not used.
  // Called from one thread.
  virtual void compute(const data::HostBatch& batch, float* features) = 0;
  // A text of all else its bits follow from: device, LibTorch, the batch's
  // shape.
  virtual std::string place() const = 0;
};

struct ExtractorRequest {
  const graph::Program& prefix;
  std::vector<std::int64_t> shape;
  const RunData& data;
  std::string device; // "cpu", "mps"
  InputFormat layout; // of the batches that come
  int batch = 64; // samples of one forward pass
};

using MakeExtractor =
    std::function<std::unique_ptr<FeatureExtractor>(const ExtractorRequest&)>;

std::unique_ptr<FeatureExtractor> make_extractor(
    const ExtractorRequest& request);

} // namespace temper::train
