#include "temper/base/text.h"
#include "temper/config/choices.h"
#include "temper/graph/cost/liveness.h"
#include "temper/graph/infer/infer.h"
#include "temper/graph/pass/passes.h"
#include "temper/train/schedule/updates.h"
#include "temper/train/setup/run_model.h"

namespace temper::train {
namespace {

// The share of the memory that programs may use; the rest is for what is not
// forecast.
constexpr double kShare = 0.7;
// Weights, gradients and two moments of the optimiser.
constexpr double kCopies = 4;

std::int64_t samples_at_once(const config::Config& config) {
  const int micro = micro_batch_of(config);
  return micro > 0 ? micro : config.train.batch * config.train.accumulate;
}

bool fits_memory(
    const graph::Program& program,
    std::int64_t batch,
    double usable_bytes) {
  const graph::Program training = graph::switch_mode(program, true).program;
  const auto symbols = graph::bind_batch(training.graph, batch);
  const auto known = graph::infer(training.graph, symbols);
  double bytes = static_cast<double>(
      graph::liveness(training.graph, known, symbols).train.bytes);
  for (const auto& [name, tensor] : program.weights)
    bytes += kCopies * static_cast<double>(tensor.byte_count);
  return bytes <= kShare * usable_bytes;
}

} // namespace

void apply_recompute(
    RunModel& model,
    const config::Config& config,
    std::uint64_t usable_bytes) {
  const config::Recompute asked = config::recompute_of(config.memory);
  if (asked == config::Recompute::off) return;
  if (!model.program) {
    model.notes.push_back(
        "nothing is computed again: only graphs (zoo, .pt2) can be cut");
    return;
  }
  const std::int64_t batch = samples_at_once(config);
  const auto budget =
      static_cast<double>(config.memory.budget.bytes.value_or(usable_bytes));
  if (asked == config::Recompute::automatic &&
      fits_memory(*model.program, batch, budget))
    return;
  graph::Passed passed = graph::choose_recompute(*model.program, batch);
  model.program = std::move(passed.program);
  model.notes.push_back(std::move(passed.report));
}

} // namespace temper::train
