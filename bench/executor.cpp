// The cost of interpreting a graph over calling the same layers by hand:
// ResNet-18 from the zoo on the executor, and as torch::nn modules, at batch 1,
// where the share of the calls is largest.
//
//   make bench-executor       or: temper_bench_executor [ROUNDS]
//   temper_bench_executor count ours|theirs SIDE forward|both TIMES
//     runs one of them that often and no more, for instruction counts: the
//     difference of two counts under valgrind --tool=callgrind is the cost of
//     the calls in between (bench/executor_instructions.sh)
//
// One thread, CPU time of the process. The two take turns, and what counts is
// the median over the rounds of the ratio within a round.
#include <sys/resource.h>
#include <torch/torch.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <vector>

#include "resnet18.h"
#include "temper/base/statistics.h"
#include "temper/model/executor/executor.h"
#include "temper/model/zoo/zoo.h"

namespace {

using namespace temper;
using Step = std::function<void()>;

double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) +
        1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double seconds_of(const Step& step, int times) {
  const double begin = cpu_seconds();
  for (int i = 0; i < times; ++i)
    step();
  return (cpu_seconds() - begin) / times;
}

// Training mode in both cases, so that the same kernels run.
Step step_of(
    std::function<at::Tensor(const at::Tensor&)> forward,
    std::int64_t side,
    bool backward) {
  const at::Tensor x = torch::randn({1, 3, side, side});
  return [forward = std::move(forward), x, backward] {
    if (!backward) {
      const at::NoGradGuard no_grad;
      forward(x);
      return;
    }
    forward(x).sum().backward();
  };
}

struct Pair {
  Step ours;
  Step theirs;
};

Pair steps(std::int64_t side, bool backward) {
  model::ZooOptions options;
  options.name = "resnet18";
  options.image_size = side;
  const auto ours = std::make_shared<model::GraphModule>(model::build(options));
  const auto theirs = std::make_shared<bench::ResNet18>();
  // At 32 pixels and batch 1 the last layers have one value a channel, of
  // which BatchNorm takes no statistics.
  const bool training = side > 32;
  ours->set_training(training);
  theirs->train(training);
  return {
      step_of(
          [ours](const at::Tensor& x) { return ours->forward({x}); },
          side,
          backward),
      step_of(
          [theirs](const at::Tensor& x) { return theirs->forward(x); },
          side,
          backward)};
}

void compare(std::int64_t side, bool backward, int rounds) {
  const Pair pair = steps(side, backward);
  pair.theirs();
  pair.ours();
  const int times =
      std::max(1, static_cast<int>(0.1 / seconds_of(pair.theirs, 1)));
  std::vector<double> ours;
  std::vector<double> theirs;
  std::vector<double> ratios;
  for (int round = 0; round < rounds; ++round) {
    // They take turns at going first: a machine that slows down favours
    // neither.
    if (round % 2 == 0) {
      ours.push_back(seconds_of(pair.ours, times));
      theirs.push_back(seconds_of(pair.theirs, times));
    } else {
      theirs.push_back(seconds_of(pair.theirs, times));
      ours.push_back(seconds_of(pair.ours, times));
    }
    ratios.push_back(ours.back() / theirs.back());
  }
  std::printf(
      "%4lld x %-4lld %-18s %10.3f %12.3f %+9.2f %%\n",
      static_cast<long long>(side),
      static_cast<long long>(side),
      backward ? "forward, backward" : "forward",
      1e3 * median(ours),
      1e3 * median(theirs),
      100 * (median(ratios) - 1));
  std::fflush(stdout);
}

int count(char** words) {
  const bool ours = std::strcmp(words[0], "ours") == 0;
  const Pair pair =
      steps(std::atoll(words[1]), std::strcmp(words[2], "both") == 0);
  for (int i = 0; i < std::atoi(words[3]); ++i)
    (ours ? pair.ours : pair.theirs)();
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  at::set_num_threads(1);
  torch::manual_seed(0);
  if (argc == 6 && std::strcmp(argv[1], "count") == 0) return count(argv + 2);
  const int rounds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 41;
  std::printf(
      "ResNet-18 at batch 1, CPU ms a pass, median of %d rounds\n"
      "%-11s %-18s %10s %12s %11s\n",
      rounds,
      "image",
      "",
      "executor",
      "torch::nn",
      "overhead");
  for (const std::int64_t side : {32, 224})
    for (const bool backward : {false, true})
      compare(side, backward, rounds);
}
