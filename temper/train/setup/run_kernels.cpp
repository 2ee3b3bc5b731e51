#include "temper/train/setup/run_kernels.h"

#include <algorithm>

#include "temper/base/text.h"
#include "temper/graph/fuse/thread_bits.h"
#include "temper/graph/pass/passes.h"

namespace temper::train {
namespace {

// The graph as it is trained: BatchNorms that are frozen stay still.
graph::Graph training_graph(const RunModel& model) {
  graph::Program training = graph::switch_mode(*model.program, true).program;
  if (!model.still_norms.empty())
    training = graph::freeze_statistics(training, model.still_norms).program;
  return std::move(training.graph);
}

} // namespace

RunKernels kernels_of_run(
    const config::Config& config,
    const RunModel& model,
    const plan::Setting& setting,
    const RunLoss& loss) {
  RunKernels found;
  if (!setting.on_cpu())
    found.by_threads.push_back(cat("the device ", setting.device));
  else if (setting.kernels != config::Kernels::fused)
    found.by_threads.emplace_back("every layer");
  else if (setting.precision != config::Precision::fp32)
    found.by_threads.push_back(
        cat("precision ", config::to_text(setting.precision)));
  else if (!model.program)
    found.by_threads.emplace_back("a model without a graph");
  if (!found.by_threads.empty()) return found;

  const graph::Graph graph = training_graph(model);
  graph::FusionOptions options;
  options.norms_stay_alone = model.norm_group > 0;
  const graph::Fusions fusions = graph::find_fusions(graph, options);
  found.fused = fusions.report;
  for (const std::size_t node : graph::thread_dependent_nodes(graph, fusions))
    found.by_threads.push_back(graph::layer_name(graph.nodes[node]));
  if (!loss.any_threads)
    found.by_threads.push_back(cat("the loss ", loss.name));
  if (config::moments_of(config.optimizer) != config::Precision::fp32)
    found.by_threads.emplace_back("optimizer.moments");
  found.any_threads = found.by_threads.empty();
  return found;
}

std::string bits_text(const RunKernels& kernels) {
  constexpr std::size_t kMostNamed = 3;
  const std::vector<std::string>& all = kernels.by_threads;
  if (kernels.any_threads) return "do not depend on threads";
  if (all.empty()) return "depend on threads";
  const std::size_t named = std::min(all.size(), kMostNamed);
  const std::vector<std::string> few(
      all.begin(), all.begin() + static_cast<std::ptrdiff_t>(named));
  return cat(
      "depend on threads: ",
      join(few, ", "),
      all.size() > named ? cat(" and ", all.size() - named, " more") : "",
      all.size() > 1 ? " are LibTorch's" : " is LibTorch's");
}

} // namespace temper::train
