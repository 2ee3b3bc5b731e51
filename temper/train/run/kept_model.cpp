#include "temper/train/run/kept_model.h"

#include "temper/graph/pt2/pt2.h"

namespace temper::train {

void keep_model(const RunModel& model, const journal::RunDirectory& run) {
  if (!model.program || std::filesystem::exists(run.model())) return;
  graph::write_pt2_without_weights(
      model.unfrozen ? *model.unfrozen : *model.program, run.model());
}

std::optional<graph::Program> kept_model(const journal::RunDirectory& run) {
  if (!std::filesystem::exists(run.model())) return std::nullopt;
  return graph::read_pt2_without_weights(run.model());
}

} // namespace temper::train
