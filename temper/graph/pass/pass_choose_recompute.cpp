// Which modules to compute again: each depth of the module tree is one way to
// split the network ("features.*", "features.*.*"), and the forecast tells
// which one leaves the lowest peak.
#include <set>

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/graph/cost/cost.h"
#include "temper/graph/cost/liveness.h"
#include "temper/graph/infer/infer.h"
#include "temper/graph/pass/passes.h"

namespace temper::graph {
namespace {

// The modules that lie so many levels deep, as patterns of their own names.
std::vector<std::string> modules_at(const Graph& graph, std::size_t depth) {
  std::set<std::string> names;
  for (const Node& node : graph.nodes) {
    std::size_t end = 0;
    for (std::size_t level = 0; level < depth && end != std::string::npos;
         ++level)
      end = node.module.find('.', level == 0 ? 0 : end + 1);
    if (node.module.empty() || (depth > 0 && end == std::string::npos))
      continue; // the module is not so deep
    const std::size_t stop = node.module.find('.', depth == 0 ? 0 : end + 1);
    names.insert(node.module.substr(0, stop));
  }
  return {names.begin(), names.end()};
}

struct Weighed {
  std::int64_t peak_bytes = 0;
  double more_work = 0; // forward work done twice, of forward and backward
};

Weighed weigh(const Program& program, std::int64_t batch) {
  const Program training = switch_mode(program, true).program;
  const Symbols symbols = bind_batch(training.graph, batch);
  const Inferred known = infer(training.graph, symbols);
  Weighed made;
  made.peak_bytes = liveness(training.graph, known, symbols).train.bytes;
  const auto work = costs(training.graph, known, symbols);
  double twice = 0;
  double all = 0;
  for (std::size_t i = 0; i < work.size(); ++i) {
    all += static_cast<double>(work[i].flops + work[i].backward_flops);
    if (training.graph.nodes[i].recompute_segment >= 0)
      twice += static_cast<double>(work[i].flops);
  }
  if (all > 0) made.more_work = twice / all;
  return made;
}

} // namespace

Passed choose_recompute(const Program& program, std::int64_t batch) {
  const Weighed plain = weigh(program, batch);
  Passed best{program, ""};
  Weighed least = plain;
  for (std::size_t depth = 0;; ++depth) {
    const auto modules = modules_at(program.graph, depth);
    if (modules.empty()) break;
    Passed marked = mark_recompute(program, modules);
    const Weighed weighed = weigh(marked.program, batch);
    if (weighed.peak_bytes >= least.peak_bytes) continue;
    least = weighed;
    best = std::move(marked);
  }
  best.report = least.peak_bytes == plain.peak_bytes
      ? "computing activations again would save no memory"
      : cat(best.report,
            ": activations take ",
            bytes_text(least.peak_bytes),
            " instead of ",
            bytes_text(plain.peak_bytes),
            " at batch ",
            batch,
            ", for ",
            decimals(least.more_work * 100, 0),
            " % more work");
  return best;
}

} // namespace temper::graph
