// Validation's forward pass on temper's kernels and on LibTorch's operators,
// taking turns; both channels_last, with LibTorch's number of threads.
//
//   temper_bench_evaluation [ROUNDS]
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "temper/base/statistics.h"
#include "temper/model/executor/executor.h"
#include "temper/model/zoo/zoo.h"

namespace {

using namespace temper;

double seconds_of_pass(model::GraphModule& module, const at::Tensor& images) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  module.forward({images});
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

void compare(const char* name, int side, int count, int rounds) {
  model::ZooOptions options;
  options.name = name;
  options.image_size = side;
  options.channels = 3;
  options.classes = 10;
  const graph::Program program = model::build(options);
  std::vector<std::unique_ptr<model::GraphModule>> modules;
  for (const bool fuse : {true, false}) {
    model::ExecutorOptions how;
    how.fuse = fuse;
    modules.push_back(
        std::make_unique<model::GraphModule>(program, std::move(how)));
    modules.back()->set_training(false);
    for (const model::NamedTensor& each : modules.back()->parameters())
      if (each.tensor.dim() == 4)
        at::Tensor(each.tensor)
            .set_data(each.tensor.detach().contiguous(
                at::MemoryFormat::ChannelsLast));
  }
  const at::Tensor images = at::randn({count, 3, side, side})
                                .contiguous(at::MemoryFormat::ChannelsLast);
  std::vector<double> seconds[2];
  for (int i = -1; i < rounds; ++i)
    for (std::size_t which : {0U, 1U}) {
      const double each = seconds_of_pass(*modules[which], images);
      if (i >= 0) seconds[which].push_back(each);
    }
  const double fused = median(seconds[0]);
  const double stock = median(seconds[1]);
  std::printf(
      "%-14s %3d^2 batch %3d  %8.1f images/s fused  %8.1f stock   x %.2f\n",
      name,
      side,
      count,
      count / fused,
      count / stock,
      stock / fused);
  std::fflush(stdout);
}

} // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 9;
  at::set_num_threads(2);
  at::manual_seed(0);
  const at::NoGradGuard no_grad;
  compare("mobilenet_v2", 32, 128, rounds);
  compare("mobilenet_v2", 96, 32, rounds);
  compare("resnet18", 32, 128, rounds);
  compare("resnet18", 96, 32, rounds);
  compare("cnn", 64, 64, rounds);
}
