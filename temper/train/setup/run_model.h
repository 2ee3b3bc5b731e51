// The model of a run: from the zoo, a .pt2 export or a TorchScript file, with
// the classes of the data, the weights it starts from and the parts that stay
// as they are. No torch: LibTorch only runs it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "temper/config/config.h"
#include "temper/graph/ir/program.h"
#include "temper/train/setup/pretrained.h"
#include "temper/train/setup/run_data.h"

namespace temper::train {

struct RunModel {
  std::string name; // "resnet18", "net.pt2"
  std::optional<graph::Program> program;
  // The program before model.freeze; no value when that is the same.
  std::optional<graph::Program> unfrozen;
  std::filesystem::path torchscript; // when there is no program
  std::int64_t outputs = 0; // classes or numbers; 0: not known
  // The only batch that the model can be trained with; 0: any.
  std::int64_t fixed_batch = 0;
  // Frozen BatchNorms, by their tensors: they stay in eval mode.
  std::vector<std::string> still_norms;
  std::int64_t norm_group = 0; // model.bn_group
  // Parameters of a TorchScript file that keep their values, by pattern.
  std::vector<std::string> freeze;
  std::string weights; // what model.weights came to: "imagenet", a path
  std::vector<std::string> notes; // what passes and weights said
};

// memory.recompute: marks what is computed again in the backward pass, and
// notes it. `usable_bytes` of memory decide for "auto".
void apply_recompute(
    RunModel& model,
    const config::Config& config,
    std::uint64_t usable_bytes);

// The config of a run whose model was exported for one batch and depends on it:
// train.batch is that, and what is left of an epoch is dropped. Other configs
// stay as they are.
config::Config with_models_batch(config::Config config);

// Error when there is no such model, or it does not fit the data, or nothing of
// it would be left to train. Without a store weights are not known by name.
RunModel choose_model(
    const config::Config& config,
    const RunData& data,
    const WeightsStore& store = {});

} // namespace temper::train
