#include "temper/train/forecast/forecast.h"

#include <algorithm>
#include <exception>

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/machine/device_kind.h"
#include "temper/machine/gauges.h"
#include "temper/train/engine/convolution_trial.h"
#include "temper/train/forecast/governor_options.h"
#include "temper/train/forecast/step_memory.h"
#include "temper/train/schedule/slices.h"

namespace temper::train {
namespace {

using memory::Forecast;

// `trials`: convolutions are run to find out what they take.
StepMemory step_memory(const ForecastRequest& request, bool trials) {
  StepMemoryOptions options;
  options.task = request.facts.task;
  options.loss = request.facts.loss;
  options.device = request.setting.device;
  options.bytes = request.layout.bytes;
  options.channels_last = request.setting.layout == plan::Layout::channels_last;
  options.fused = request.setting.kernels == plan::Kernels::fused;
  options.threads = request.setting.threads;
  options.libtorch = request.machine.libtorch.version;
  if (trials) options.convolution_bytes = convolution_bytes;
  return StepMemory(*request.model.program, request.config, options);
}

// A slice that takes up what is left of a group is larger than the others.
int largest_slice(int batch, int at_once, std::int64_t group) {
  const auto sizes = slice_sizes(batch, at_once, group);
  return static_cast<int>(*std::max_element(sizes.begin(), sizes.end()));
}

Forecast unknown(
    const ForecastRequest& request,
    const memory::GovernorOptions& options) {
  return memory::choose_size(
      options, request.budget, [](int) { return std::uint64_t{0}; });
}

Forecast from_graph(
    const ForecastRequest& request,
    const memory::GovernorOptions& options) try {
  const StepMemory memory = step_memory(request, true);
  const auto at = [&](int at_once) {
    return memory.at(
        options.batch,
        largest_slice(options.batch, at_once, request.config.model.bn_group));
  };
  Forecast made =
      memory::choose_size(options, request.budget, [&](int at_once) {
        return at(at_once).peak() + request.frozen_bytes;
      });
  const StepBytes parts = at(made.at_once);
  made.parts = {
      {"parameters", parts.parameters},
      {"gradients", parts.gradients},
      {"optimizer", parts.optimizer},
      {"average", parts.average},
      {"batch", parts.batch},
      {"activations", parts.activations}};
  if (request.frozen_bytes > 0)
    made.parts.push_back({"frozen part", request.frozen_bytes});
  if (request.tries_kernels)
    made.parts.push_back(
        {"kernels' working memory",
         memory.kernel_bytes(largest_slice(
             options.batch, made.at_once, request.config.model.bn_group)),
         false});
  made.how = "from the graph";
  return made;
} catch (const Error&) {
  return unknown(request, options); // the run itself will say what is wrong
}

// Steps of two sizes, and the line through them.
struct Fit {
  memory::Line line;
  int small = 0;
  int large = 0;
};

Fit fit_between(const ForecastRequest& request, int small, int large) {
  const auto few = static_cast<double>(request.measure(small));
  const auto more = static_cast<double>(request.measure(large));
  if (few <= 0 || more < few) return {};
  return {memory::line_through(small, few, large, more), small, large};
}

// With few samples the peak is where gradients are, with many where activations
// are: the line through small steps is too low for large ones. It only says
// which larger step can be measured without danger, and that one is.
Fit fit_of(
    const ForecastRequest& request,
    const memory::GovernorOptions& options) {
  const int small = std::max(options.group, std::min(options.batch, 4) / 2);
  const int large = std::min(2 * small, options.batch);
  const Fit near = fit_between(request, small, large);
  const double room = static_cast<double>(request.budget.bytes) / 2;
  for (int far = options.batch; near.large > 0 && far > large; far /= 2)
    if (request.budget.bytes == 0 || near.line.at(far) < room)
      return fit_between(request, large, far);
  return near;
}

Forecast from_steps(
    const ForecastRequest& request,
    const memory::GovernorOptions& options) {
  Fit fit;
  try {
    fit = fit_of(request, options);
  } catch (const OutOfMemory&) { // the run will do with fewer samples
  } catch (const Error&) {
    throw; // so would every step of the run: it need not begin
  } catch (const std::exception&) { // the run itself will say what is wrong
  }
  const bool known = fit.large > 0;
  Forecast made =
      memory::choose_size(options, request.budget, [&](int at_once) {
        return known
            ? static_cast<std::uint64_t>(std::max(0.0, fit.line.at(at_once)))
            : std::uint64_t{0};
      });
  if (known) {
    made.how = cat("from steps of ", fit.small, " and ", fit.large, " samples");
    const auto base = static_cast<std::uint64_t>(std::max(0.0, fit.line.base));
    made.parts = {
        {"whatever the batch", base},
        {"samples", made.peak_bytes - std::min(base, made.peak_bytes)}};
  }
  return made;
}

} // namespace

memory::Budget budget_of(
    const config::Config& config,
    const machine::Machine& machine,
    const std::string& device,
    std::uint64_t beside_bytes) {
  memory::BudgetRequest request{
      device,
      machine,
      machine::Gauges().read(),
      config.memory.budget.bytes,
      {},
      beside_bytes};
  if (machine::is_sim(device)) request.device_bytes = config.sim.memory.bytes;
  return memory::budget_for(request);
}

EngineFacts facts_before(const config::Config& config, const RunData& data) {
  EngineFacts facts;
  switch (data.info.target) {
    case data::Target::label:
      facts.task = "classification";
      break;
    case data::Target::numbers:
      facts.task = config.train.loss == "bce" ? "multi-label" : "regression";
      break;
    case data::Target::tokens:
      facts.task = "next-token";
      break;
  }
  facts.loss = config.train.loss != "auto" ? config.train.loss
      : facts.task == "regression"         ? "mse"
                                           : "cross_entropy";
  return facts;
}

Forecast forecast_run(const ForecastRequest& request) {
  const memory::GovernorOptions options =
      governor_options(request.config, request.facts);
  Forecast made;
  if (request.model.program)
    made = from_graph(request, options);
  else if (request.measure)
    made = from_steps(request, options);
  else
    made = unknown(request, options);
  made.parts.push_back({"batches made ahead", request.loader_bytes, false});
  made.parts.push_back(
      {"good states and checkpoints", request.copies_bytes, false});
  if (made.at_once < made.batch && options.batch_norm && options.group <= 1)
    made.why += cat(". ", memory::batch_norm_note());
  return made;
}

StepPeak peak_of_step(const ForecastRequest& request, int samples) try {
  if (!request.model.program) return {};
  const StepBytes parts = step_memory(request, false).at(samples, samples);
  return {
      parts.parameters + parts.gradients + parts.optimizer + parts.average,
      parts.peak()};
} catch (const Error&) {
  return {}; // the run itself will say what is wrong
}

} // namespace temper::train
