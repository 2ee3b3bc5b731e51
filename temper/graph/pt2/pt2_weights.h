// The values of parameters, buffers and constants of a .pt2 archive, laid out
// in order.
// Private to graph/pt2.
#pragma once

#include <map>
#include <string>

#include "temper/graph/ir/graph.h"
#include "temper/graph/ir/weights.h"
#include "temper/graph/pt2/pt2_archive.h"

namespace temper::graph::pt2 {

class WeightsReader {
 public:
  // The part an archive may leave out: `kWeights` gives zeros for parameters
  // and lasting buffers without bytes.
  enum class MayLack { kNothing, kWeights };
  explicit WeightsReader(
      const Archive& archive,
      MayLack may_lack = MayLack::kNothing);

  struct Weight {
    TensorData data;
    bool requires_grad = false;
  };
  // Reads a tensor by its real name. `constant` says where to look first:
  // non-persistent buffers and constants lie apart.
  Weight read(const std::string& target, bool constant);

 private:
  const Json*
  find(const std::string& target, bool constant, std::string& folder);
  const SharedBytes& storage(
      const std::string& folder,
      const std::string& name,
      const TensorMeta& meta);

  const Archive& archive_;
  MayLack may_lack_;
  Json weights_;
  Json constants_;
  // Unpacked once, so that names which share a storage share its bytes.
  std::map<std::string, SharedBytes> storages_;
  // Gathered tensors by everything that says where their elements are.
  std::map<std::string, TensorData> gathered_;
  std::uint64_t may_gather_bytes_ = 0;
};

} // namespace temper::graph::pt2
