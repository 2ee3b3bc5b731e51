// The model of a run: from the zoo, a .pt2 export or a TorchScript file, with
// the classes of the data, the weights it starts from and the parts that stay
// as they are. No torch: LibTorch only runs it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "temper/config/config.h"
#include "temper/graph/program.h"
#include "temper/train/run_data.h"

namespace temper::train {

struct RunModel {
  std::string name; // "resnet18", "net.pt2"
  std::optional<graph::Program> program;
  std::filesystem::path torchscript; // when there is no program
  std::int64_t outputs = 0; // classes or numbers; 0: not known
  // Frozen BatchNorms, by their tensors: they stay in eval mode.
  std::vector<std::string> still_norms;
  std::int64_t norm_group = 0; // model.bn_group
  // Of a TorchScript file: parameters that keep their values, by pattern.
  std::vector<std::string> freeze;
  std::vector<std::string> notes; // what passes and weights said
};

// memory.recompute: marks what is computed again in the backward pass, and
// notes it. `usable_bytes` of memory decide for "auto".
void apply_recompute(
    RunModel& model,
    const config::Config& config,
    std::uint64_t usable_bytes);

// Error when there is no such model, or it does not fit the data.
RunModel choose_model(const config::Config& config, const RunData& data);

} // namespace temper::train
