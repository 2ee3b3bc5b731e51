#include "temper/train/engine/convolution_trial.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <map>
#include <mutex>
#include <vector>

#include "temper/graph/ir/weights.h"
#include "temper/libtorch/facts.h"
#include "temper/libtorch/onednn.h"
#include "temper/memory/cpu_allocator.h"

namespace temper::train {
namespace {

using graph::ConvolutionCase;

// A measurement takes some milliseconds a layer.
constexpr std::int64_t kMostProducts = 200'000'000;

class Threads {
 public:
  explicit Threads(int count) : before_(at::get_num_threads()) {
    if (count > 0) libtorch::set_threads_here(count);
  }
  ~Threads() {
    libtorch::set_threads_here(before_);
  }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

 private:
  int before_;
};

at::Tensor zeros(const graph::Ints& sizes, bool channels_last) {
  const at::Tensor made = at::zeros(sizes, at::kFloat);
  return channels_last && sizes.size() == 4
      ? made.contiguous(at::MemoryFormat::ChannelsLast)
      : made;
}

std::int64_t bytes_of(const at::Tensor& tensor) {
  return tensor.defined() ? static_cast<std::int64_t>(tensor.nbytes()) : 0;
}

class Trace {
 public:
  Trace() {
    memory::trace_cpu(&events);
  }
  ~Trace() {
    memory::trace_cpu(nullptr);
  }
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  std::vector<memory::CpuEvent> events;
};

// The memory that a backward pass took and gave back, in order, and what stayed
// of it.
struct Story {
  std::vector<memory::CpuEvent> events;
  std::int64_t result_bytes = 0;

  std::int64_t beside() const {
    std::int64_t live = 0;
    std::int64_t peak = 0;
    for (const memory::CpuEvent& each : events) {
      live += each.bytes > 0 ? each.bytes : -events[each.taken_at].bytes;
      peak = std::max(peak, live);
    }
    return std::max<std::int64_t>(peak - result_bytes, 0);
  }
};

Story story_of(const ConvolutionCase& asked) {
  const at::NoGradGuard no_grad;
  const Threads threads(asked.threads);
  const at::Tensor input = zeros(asked.input, asked.channels_last);
  const at::Tensor weight = zeros(asked.weight, asked.channels_last);
  const at::Tensor gradient = at::zeros_like(at::convolution(
      input,
      weight,
      {},
      asked.stride,
      asked.padding,
      asked.dilation,
      asked.transposed,
      asked.output_padding,
      asked.groups));
  const std::int64_t bias = gradient.size(1);
  Trace trace;
  const auto made = at::convolution_backward(
      gradient,
      input,
      weight,
      at::IntArrayRef(bias),
      asked.stride,
      asked.padding,
      asked.dilation,
      asked.transposed,
      asked.output_padding,
      asked.groups,
      {asked.of_input, asked.of_weight, asked.of_bias});
  return {
      trace.events,
      bytes_of(std::get<0>(made)) + bytes_of(std::get<1>(made)) +
          bytes_of(std::get<2>(made))};
}

Story of_samples(ConvolutionCase asked, std::int64_t samples) {
  asked.input.front() = samples;
  return story_of(asked);
}

// Samples whose convolution is quick. LibTorch looks at 16 of them where the
// window is a single point, else at two.
std::int64_t quick_samples(const ConvolutionCase& asked) {
  const std::int64_t samples = asked.input.front();
  const std::int64_t window =
      graph::element_count({asked.weight.begin() + 2, asked.weight.end()});
  std::int64_t strides = 1;
  for (const std::int64_t stride : asked.stride)
    strides *= stride;
  const double all =
      static_cast<double>(graph::element_count(asked.weight)) *
      static_cast<double>(
          graph::element_count({asked.input.begin() + 2, asked.input.end()})) /
      static_cast<double>(
          asked.transposed ? 1 : std::max<std::int64_t>(strides, 1));
  const auto quick =
      static_cast<std::int64_t>(kMostProducts / std::max(all, 1.0));
  return std::min(samples, std::max<std::int64_t>(quick, window == 1 ? 32 : 4));
}

// The line through two numbers of samples, further on.
struct TrialLine {
  std::int64_t few, many, samples;

  std::int64_t operator()(std::int64_t of_few, std::int64_t of_many) const {
    const double a_sample =
        static_cast<double>(of_many - of_few) / static_cast<double>(many - few);
    return of_many +
        std::llround(a_sample * static_cast<double>(samples - many));
  }
};

// Some blocks grow with the samples and others do not, and which of them make
// the peak depends on how many there are: so each block goes on by itself.
std::int64_t found(const ConvolutionCase& asked) {
  const std::int64_t samples = asked.input.front();
  const std::int64_t many = quick_samples(asked);
  Story story = of_samples(asked, many);
  if (many == samples) return story.beside();
  const TrialLine line{many / 2, many, samples};
  const Story few = of_samples(asked, line.few);
  const auto same = [](const memory::CpuEvent& a, const memory::CpuEvent& b) {
    return (a.bytes > 0) == (b.bytes > 0) && a.taken_at == b.taken_at;
  };
  if (!std::equal(
          story.events.begin(),
          story.events.end(),
          few.events.begin(),
          few.events.end(),
          same)) // another way for fewer
    return std::max(line(few.beside(), story.beside()), story.beside());
  for (std::size_t i = 0; i < story.events.size(); ++i)
    if (story.events[i].bytes > 0)
      story.events[i].bytes = std::max<std::int64_t>(
          line(few.events[i].bytes, story.events[i].bytes), 1);
  story.result_bytes = line(few.result_bytes, story.result_bytes);
  return story.beside();
}

} // namespace

std::optional<std::int64_t> convolution_bytes(const ConvolutionCase& asked) {
  static std::mutex mutex;
  static auto& known =
      *new std::map<ConvolutionCase, std::optional<std::int64_t>>;
  const std::lock_guard<std::mutex> lock(mutex);
  if (const auto before = known.find(asked); before != known.end())
    return before->second;
  libtorch::keep_onednn_from_tiles();
  memory::install_cpu_allocator();
  std::optional<std::int64_t> bytes;
  try {
    bytes = found(asked);
  } catch (const std::exception&) {
    // The rules of graph/cost/liveness answer; the run says what is wrong.
  }
  return known[asked] = bytes;
}

} // namespace temper::train
