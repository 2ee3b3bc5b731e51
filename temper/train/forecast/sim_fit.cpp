#include "temper/train/forecast/sim_fit.h"

#include <algorithm>

#include "temper/base/text.h"
#include "temper/libtorch/out_of_memory.h"
#include "temper/libtorch/sim/sim.h"

namespace temper::train {
namespace {

// The learning rate is 0: the weights stay as they are.
void step(Engine& engine, const data::HostBatch& batch, std::int64_t samples) {
  StepOrder order;
  order.micro_batch = static_cast<int>(samples);
  order.report = true;
  engine.step(batch, order);
  engine.report();
  engine.take_training_sums();
}

} // namespace

SimFit fit_on_sim(
    Engine& engine,
    const data::HostBatch& batch,
    std::uint64_t memory_bytes) {
  SimFit fit;
  fit.batch = batch.size;
  fit.memory_bytes = memory_bytes;
  for (std::int64_t samples = batch.size;; samples = (samples + 1) / 2) {
    libtorch::sim::reset_counts();
    bool fits = true;
    try {
      step(engine, batch, samples);
    } catch (const std::exception& error) {
      // BatchNorm cannot learn from one sample of one value.
      const bool alone = samples == 1 && batch.size > 1;
      if (!alone && !libtorch::is_out_of_memory(error)) throw;
      fits = false;
    }
    fit.sizes.push_back({samples, libtorch::sim::counts().peak_bytes, fits});
    if (fits || samples == 1) return fit;
  }
}

std::string to_text(const SimFit& fit) {
  std::string text = cat(
      "simulated device",
      fit.memory_bytes > 0 ? cat(" with ", bytes_text(fit.memory_bytes)) : "",
      "\n  ",
      padded("samples at once", 18),
      "peak\n");
  for (const SimFit::Size& each : fit.sizes)
    text += cat(
        "  ",
        padded(count_text(each.samples), 18),
        each.fits ? cat(bytes_text(each.peak_bytes),
                        " (",
                        count_text(static_cast<std::int64_t>(each.peak_bytes)),
                        " bytes)")
                  : "does not fit",
        "\n");
  const SimFit::Size* best = fit.best();
  if (best == nullptr)
    return text + "It does not fit: not even one sample at once.\n";
  if (best->samples == fit.batch)
    return text +
        cat("It fits, all ", fit.batch, " samples of a batch at once.\n");
  return text +
      cat("It fits with memory.micro_batch = ",
          best->samples,
          ": ",
          plural((fit.batch + best->samples - 1) / best->samples, "slice"),
          " of a batch of ",
          fit.batch,
          ".\n");
}

} // namespace temper::train
