#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "temper/base/error.h"
#include "temper/base/random/philox.h"
#include "temper/base/text.h"
#include "temper/graph/pass/passes.h"
#include "temper/libtorch/facts.h"
#include "temper/libtorch/out_of_memory.h"
#include "temper/memory/usage.h"
#include "temper/plan/part_of_batch.h"
#include "temper/train/calibrate/calibration.h"
#include "temper/train/calibrate/parity.h"
#include "temper/train/schedule/updates.h"

namespace temper::train {
namespace {

// A batch that stays when its loader is gone.
class OwnBatch {
 public:
  // `targets`: numbers or tokens of one sample's target. `most` samples of it.
  OwnBatch(const data::HostBatch& from, std::size_t targets, int most)
      : batch_(from) {
    batch_.size = std::min(from.size, most);
    const auto samples = static_cast<std::size_t>(batch_.size);
    std::size_t values = samples;
    for (const std::int64_t size : from.shape)
      values *= static_cast<std::size_t>(size);
    keep(batch_.inputs, values * data::bytes_of(from.element));
    keep(batch_.labels, samples * targets * sizeof(std::int64_t));
    keep(batch_.target_numbers, samples * targets * sizeof(float));
    keep(batch_.indices, samples * sizeof(std::int64_t));
  }

  const data::HostBatch& batch() const {
    return batch_;
  }

  // Each float up or down by one bit; other inputs stay.
  void nudge(std::uint64_t seed) {
    if (batch_.element != data::Element::f32) return;
    std::size_t values = static_cast<std::size_t>(batch_.size);
    for (const std::int64_t size : batch_.shape)
      values *= static_cast<std::size_t>(size);
    auto* inputs = reinterpret_cast<float*>(memory_.front().get());
    RandomStream random(seed, 0, 0);
    for (std::size_t i = 0; i < values; ++i)
      inputs[i] = std::nextafter(
          inputs[i], random.uniform(-1, 1) < 0 ? -HUGE_VALF : HUGE_VALF);
  }

 private:
  template <class T>
  void keep(const T*& memory, std::size_t bytes) {
    if (memory == nullptr) return;
    // Takes as many words as needed: aligned for every element.
    auto own = std::make_unique<std::max_align_t[]>(
        bytes / sizeof(std::max_align_t) + 1);
    std::memcpy(own.get(), memory, bytes);
    memory = reinterpret_cast<const T*>(own.get());
    memory_.push_back(std::move(own));
  }

  data::HostBatch batch_;
  std::vector<std::unique_ptr<std::max_align_t[]>> memory_;
};

// All that a scratch run needs, held by everyone who might still compute.
struct ScratchRuns {
  config::Config config;
  RunModel model;
  RunData data; // without a stream
  MakeEngine make_engine;
  std::map<std::tuple<bool, bool, int>, std::shared_ptr<OwnBatch>> batches;
  std::optional<ParityReference> reference;
  int most_samples = std::numeric_limits<int>::max();
  int whole_samples = 0; // of a batch; 0: not looked at
  std::string note; // what the user should know of the measuring
  // The settings to be measured, the likely one, and what they take.
  std::vector<plan::Setting> settings;
  plan::Setting standard;
  std::function<SettingBytes(const plan::Setting&, int)> bytes_of;
  int most_open = std::numeric_limits<int>::max(); // trials at once

  // The most that the run itself will take with the likely setting. Little is
  // little, whatever the run takes.
  std::uint64_t room_bytes(int whole) const {
    constexpr std::uint64_t kLittle = std::uint64_t{128} << 20;
    const SettingBytes run = bytes_of(standard, whole);
    return run.peak == 0 ? 0 : std::max(kLittle, run.peak);
  }

  // The samples with which each setting fits beside the states of `others`.
  int samples_that_fit(int whole, std::uint64_t others) const {
    const std::uint64_t room = room_bytes(whole);
    int samples = whole;
    for (const plan::Setting& each : kinds())
      while (room > 0 && samples > 1) {
        const auto [state, peak] = bytes_of(each, samples);
        const std::uint64_t stays = (1 + others) * state;
        if (peak + others * state <= room || peak <= state) break;
        const double part = room <= stays ? 0
                                          : static_cast<double>(room - stays) /
                static_cast<double>(peak - state);
        samples = std::max(
            1, std::min(samples - 1, static_cast<int>(samples * part)));
      }
    return samples;
  }

  // Settings of the CPU that differ in more than their threads.
  std::vector<plan::Setting> kinds() const {
    std::vector<plan::Setting> found;
    for (plan::Setting each : settings) {
      each.threads = standard.threads;
      if (each.on_cpu() &&
          std::find(found.begin(), found.end(), each) == found.end())
        found.push_back(each);
    }
    return found;
  }

  // Two states at once, if half a batch fits beside them; else one.
  int fit_into_memory(int whole) {
    if (!bytes_of || bytes_of(standard, whole).peak == 0) return whole;
    const int beside = samples_that_fit(whole, 1);
    if (2 * beside < whole) {
      most_open = 1;
      return samples_that_fit(whole, 0);
    }
    std::uint64_t largest = 0;
    for (const plan::Setting& each : kinds())
      largest = std::max(largest, bytes_of(each, beside).peak);
    const std::uint64_t room = room_bytes(whole);
    const std::uint64_t state =
        std::max<std::uint64_t>(bytes_of(standard, beside).state, 1);
    constexpr std::uint64_t kMany = 1000;
    most_open = static_cast<int>(std::clamp<std::uint64_t>(
        1 + (room - std::min(room, largest)) / state, 2, kMany));
    return beside;
  }

  // A batch of large images may take longer than all the seconds there are, or
  // more memory than the run: as many samples of it are measured as let a step
  // fit several times.
  void fit_into(double seconds) {
    constexpr double kSteps = 24;
    constexpr int kFew = 4;
    const InputFormat layout = layout_for({}, config);
    const int whole = batch(layout).size;
    whole_samples = whole;
    if (whole <= kFew) return;
    const int in_memory = std::max(kFew, fit_into_memory(whole));
    const int in_time = plan::samples_in_time(
        in_memory, kFew, seconds / kSteps, [&](int samples) {
          return plain_step_s(samples);
        });
    measure_with(in_time);
    if (in_time < in_memory)
      note =
          cat("a step of this model takes long: ",
              most_samples,
              " of the ",
              whole,
              " samples of a batch were measured; plan.seconds allows more");
  }

  void measure_with(int samples) {
    most_samples = samples;
    batches.clear();
  }

  double plain_step_s(int samples) {
    using Clock = std::chrono::steady_clock;
    measure_with(samples);
    const auto scratch = engine({});
    step(*scratch, {}); // warm
    const auto begin = Clock::now();
    step(*scratch, {});
    return std::chrono::duration<double>(Clock::now() - begin).count();
  }

  // `nudge`: 0, or which way each input is off by its last bit.
  const data::HostBatch& batch(const InputFormat& layout, int nudge = 0) {
    auto& kept = batches[{layout.bytes, layout.channels_last, nudge}];
    if (kept == nullptr) {
      config::Config once = config;
      once.loader.workers = 1;
      once.loader.autotune = false;
      const auto loader = train_batches(data, once, layout);
      loader->start(0);
      const data::HostBatch* first = loader->next();
      if (first == nullptr)
        throw Error("[train] the data has no batch to measure with.");
      kept = std::make_shared<OwnBatch>(
          *first,
          static_cast<std::size_t>(std::max(data.info.target_size, 1)),
          most_samples);
      if (nudge > 0) kept->nudge(static_cast<std::uint64_t>(nudge));
    }
    return kept->batch();
  }

  std::unique_ptr<Engine> engine(const plan::Setting& setting) {
    return make_engine(
        {config,
         model,
         data,
         setting.device,
         layout_for(setting, config),
         {},
         setting.precision,
         setting.layout == plan::Layout::channels_last,
         setting.kernels});
  }

  // The learning rate is 0: what is computed is the same, and the weights stay
  // those of the run's beginning.
  void step(Engine& of, const plan::Setting& setting, int nudge = 0) {
    libtorch::set_threads_here(setting.threads);
    StepOrder order;
    order.micro_batch = micro_batch_of(config);
    order.report = true;
    of.step(batch(layout_for(setting, config), nudge), order);
    of.report();
    of.take_training_sums();
  }

  Computed computed(const plan::Setting& setting, int nudge = 0) {
    const auto scratch = engine(setting);
    step(*scratch, setting, nudge);
    Computed made;
    made.gradients = scratch->gradients();
    for (auto& [name, tensor] : scratch->capture().tensors) {
      const std::string front = "model.";
      if (!name.starts_with(front)) continue;
      const std::string plain = name.substr(front.size());
      if (made.gradients.count(plain) == 0) made.statistics[plain] = tensor;
    }
    scratch->evaluate(batch(layout_for(setting, config), nudge));
    const MetricSums sums = scratch->take_evaluation_sums();
    made.eval_loss = sums.loss / sums.units;
    return made;
  }

  // Numbers of twice the size would take twice the memory: what lies between
  // modules is computed again instead of kept, which changes no bit of it.
  std::optional<graph::Program> sparing_program() const {
    if (!model.program || !bytes_of) return std::nullopt;
    const auto& nodes = model.program->graph.nodes;
    const bool spares =
        std::any_of(nodes.begin(), nodes.end(), [](const graph::Node& node) {
          return node.recompute_segment >= 0;
        });
    const int whole = whole_samples > 0 ? whole_samples : most_samples;
    const int samples = std::min(most_samples, whole);
    if (spares || 2 * bytes_of({}, samples).peak <= room_bytes(whole))
      return std::nullopt;
    return graph::choose_recompute(*model.program, samples).program;
  }

  const ParityReference& plain_and_exact(int threads) {
    if (reference) return *reference;
    std::optional<graph::Program> as_it_runs;
    if (auto spares = sparing_program()) {
      as_it_runs = std::exchange(model.program, std::move(spares));
    }
    ParityReference made;
    try {
      made = computed_reference(threads);
    } catch (...) {
      if (as_it_runs) model.program = std::move(as_it_runs);
      throw;
    }
    if (as_it_runs) model.program = std::move(as_it_runs);
    reference = std::move(made);
    return *reference;
  }

  ParityReference computed_reference(int threads) {
    plan::Setting plain;
    plain.threads = threads;
    plan::Setting exact = plain;
    exact.precision = plan::Precision::fp64;
    ParityReference made;
    try {
      made.exact = computed(exact);
    } catch (const std::exception&) {
      made.exact = computed(plain); // a task of floats only
    }
    for (const int nudge : {0, 1, 2})
      made.own =
          std::max(made.own, own_error(computed(plain, nudge), made.exact));
    return made;
  }
};

// LibTorch has several words for it, and none of its types is known here.
[[noreturn]] void rethrow_as_memory() {
  try {
    throw;
  } catch (const std::exception& error) {
    if (libtorch::is_out_of_memory(error)) throw plan::NoMemory(error.what());
    throw;
  }
}

class EngineTrial final : public plan::Trial {
 public:
  EngineTrial(std::shared_ptr<ScratchRuns> ground, plan::Setting setting)
      : ground_(std::move(ground)),
        setting_(std::move(setting)),
        engine_(ground_->engine(setting_)) {}

  void step() override try {
    if (engine_ == nullptr) engine_ = ground_->engine(setting_);
    ground_->step(*engine_, setting_);
  } catch (...) {
    rethrow_as_memory();
  }

  // With engines of its own: this one's memory goes first.
  plan::Parity parity() override try {
    engine_.reset();
    const ParityReference& reference =
        ground_->plain_and_exact(setting_.threads);
    return compare(ground_->computed(setting_), reference, setting_.precision);
  } catch (...) {
    rethrow_as_memory();
  }

 private:
  std::shared_ptr<ScratchRuns> ground_;
  plan::Setting setting_;
  std::unique_ptr<Engine> engine_;
};

std::shared_ptr<ScratchRuns> ground_of(
    const PlanRequest& request,
    const plan::Candidates* candidates = nullptr) {
  auto ground = std::make_shared<ScratchRuns>();
  ground->config = request.config;
  ground->config.train.clip = 0; // gradients are compared as they are
  ground->config.train.clip_value = 0;
  ground->model = request.model;
  ground->make_engine = request.make_engine;
  ground->data.info = request.data.info;
  ground->data.source = request.data.source;
  ground->data.augment = request.data.augment;
  ground->data.val_augment = request.data.val_augment;
  ground->data.input_shape = request.data.input_shape;
  ground->data.host = request.data.host;
  ground->data.train = request.data.train;
  ground->data.train_samples = request.data.train_samples;
  ground->bytes_of = request.bytes_of;
  if (candidates != nullptr) {
    ground->settings = candidates->settings;
    ground->standard = candidates->standard();
  }
  return ground;
}

class EngineRig final : public plan::Rig {
 public:
  EngineRig(const PlanRequest& request, const plan::Candidates& candidates)
      : ground_(ground_of(request, &candidates)),
        seconds_(request.config.plan.seconds) {}

  int most_open() const override {
    return ground_->most_open;
  }

  std::string note() const override {
    return ground_->note;
  }

  double part() const override {
    const int whole = ground_->whole_samples;
    return ground_->most_samples < whole
        ? static_cast<double>(ground_->most_samples) / whole
        : 1;
  }

  // The thread of trials computes first: on another one OpenMP would keep a
  // second team of threads, and settings with several would seem too slow.
  std::unique_ptr<plan::Trial> open(const plan::Setting& setting) override try {
    if (!std::exchange(fitted_, true)) ground_->fit_into(seconds_);
    return std::make_unique<EngineTrial>(ground_, setting);
  } catch (...) {
    rethrow_as_memory();
  }

 private:
  std::shared_ptr<ScratchRuns> ground_;
  double seconds_;
  bool fitted_ = false;
};

} // namespace

std::function<std::uint64_t(int)> peak_of_steps(
    const PlanRequest& request,
    const plan::Setting& setting) {
  if (request.data.train == nullptr) return {};
  return [ground = ground_of(request), setting](int samples) {
    const auto before = memory::tensor_usage(setting.device).live_bytes;
    const auto scratch = ground->engine(setting);
    data::HostBatch part = ground->batch(layout_for(setting, ground->config));
    part.size = std::min(part.size, samples);
    memory::reset_tensor_peak(setting.device);
    // The first step makes the optimiser's state, and what looks at a program
    // while it first runs (TorchScript) runs it differently from then on.
    constexpr int kSteps = 3;
    for (int i = 0; i < kSteps; ++i) {
      StepOrder order;
      order.update = i;
      order.report = true;
      scratch->step(part, order);
      scratch->report();
      scratch->take_training_sums();
    }
    const auto peak = memory::tensor_usage(setting.device).peak_bytes;
    return peak > before ? peak - before : 0;
  };
}

std::shared_ptr<plan::Rig> make_rig(
    const PlanRequest& request,
    const plan::Candidates& candidates) {
  return std::make_shared<EngineRig>(request, candidates);
}

} // namespace temper::train
