#include "temper/base/text.h"
#include "temper/graph/pt2/pt2.h"

namespace temper::graph {

std::optional<std::string> fixed_batch_advice(const Graph& graph) {
  const auto inputs = graph.inputs_of(InputKind::kUser);
  if (inputs.empty()) return std::nullopt;
  const Input& first = *inputs.front();
  const TensorMeta& meta = graph.meta(first.value);
  if (meta.sizes.empty() || !meta.sizes[0].fixed()) return std::nullopt;
  return cat(
      "This model takes batches of exactly ",
      meta.sizes[0].value,
      ": it was exported without dynamic_shapes, so the size of the example ",
      first.target,
      " is part of its graph. Export it again with a symbol for the batch: "
      "torch.export.export(model, (",
      first.target,
      ",), dynamic_shapes=({0: torch.export.Dim(\"batch\", min=2)},)).");
}

} // namespace temper::graph
