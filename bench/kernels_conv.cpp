// Convolutions by temper's kernels beside LibTorch's operators (channels-last,
// oneDNN), layer by layer of the networks that matter.
//
//   temper_bench_kernels_conv [ROUNDS] [PART OF A NAME]
//
// One thread, its CPU time; the two take turns, and the best of the rounds
// counts. GFLOP/s are those of the direct convolution, taps in the padding
// included, so that Winograd's numbers may pass the machine's peak.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

#include "temper/kernels/simd/target.h"
#include "temper/model/fused/convolution.h"

namespace {

using namespace temper::model;
namespace kernels = temper::kernels;

struct Layer {
  const char* network;
  std::int64_t batch;
  std::int64_t side;
  std::int64_t in;
  std::int64_t out;
  std::int64_t kernel;
  std::int64_t stride;
};

const std::vector<Layer> kLayers = {
    {"resnet18-cifar stem", 128, 32, 3, 64, 3, 1},
    {"resnet18-cifar", 128, 32, 64, 64, 3, 1},
    {"resnet18-cifar", 128, 32, 64, 128, 3, 2},
    {"resnet18-cifar", 128, 16, 128, 128, 3, 1},
    {"resnet18-cifar", 128, 16, 128, 256, 3, 2},
    {"resnet18-cifar", 128, 8, 256, 256, 3, 1},
    {"resnet18-cifar", 128, 8, 256, 512, 3, 2},
    {"resnet18-cifar", 128, 4, 512, 512, 3, 1},
    {"resnet18-cifar down", 128, 32, 64, 128, 1, 2},
    {"resnet18-cifar down", 128, 16, 128, 256, 1, 2},
    {"resnet18-cifar down", 128, 8, 256, 512, 1, 2},
    {"resnet18-32 stem", 128, 32, 3, 64, 7, 2},
    {"resnet18-32", 128, 8, 64, 64, 3, 1},
    {"resnet18-32", 128, 8, 64, 128, 3, 2},
    {"resnet18-32", 128, 4, 128, 128, 3, 1},
    {"resnet18-32", 128, 4, 128, 256, 3, 2},
    {"resnet18-32", 128, 2, 256, 256, 3, 1},
    {"resnet18-32", 128, 2, 256, 512, 3, 2},
    {"resnet18-32", 128, 1, 512, 512, 3, 1},
    {"resnet18-32 down", 128, 8, 64, 128, 1, 2},
    {"resnet18-32 down", 128, 4, 128, 256, 1, 2},
    {"resnet18-32 down", 128, 2, 256, 512, 1, 2},
    {"resnet18-224 stem", 16, 224, 3, 64, 7, 2},
    {"resnet18-224", 16, 56, 64, 64, 3, 1},
    {"resnet18-224", 16, 56, 64, 128, 3, 2},
    {"resnet18-224", 16, 28, 128, 128, 3, 1},
    {"resnet18-224", 16, 28, 128, 256, 3, 2},
    {"resnet18-224", 16, 14, 256, 256, 3, 1},
    {"resnet18-224", 16, 14, 256, 512, 3, 2},
    {"resnet18-224", 16, 7, 512, 512, 3, 1},
    {"resnet20", 128, 32, 16, 16, 3, 1},
    {"resnet20", 128, 16, 32, 32, 3, 1},
    {"5x5", 128, 14, 32, 64, 5, 1},
};

double cpu_ms() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return 1e3 * static_cast<double>(time.tv_sec) +
      1e-6 * static_cast<double>(time.tv_nsec);
}

// Both in turns; the best of each.
std::array<double, 2> best_ms(
    int rounds,
    const std::function<void()>& ours,
    const std::function<void()>& theirs) {
  std::array<double, 2> best{1e30, 1e30};
  for (int round = 0; round < rounds; ++round) {
    const double begin = cpu_ms();
    ours();
    const double middle = cpu_ms();
    theirs();
    best[0] = std::min(best[0], middle - begin);
    best[1] = std::min(best[1], cpu_ms() - middle);
  }
  return best;
}

at::Tensor channels_last(at::IntArrayRef sizes) {
  return at::randn(sizes).contiguous(at::MemoryFormat::ChannelsLast);
}

void print(const char* pass, double flop, std::array<double, 2> ms) {
  std::printf(
      " | %s %7.2f %7.2f %4.0f x%.2f",
      pass,
      ms[0],
      ms[1],
      1e-6 * flop / ms[0],
      ms[1] / ms[0]);
}

void measure(const Layer& layer, int rounds) {
  ConvSpec spec;
  spec.kernel = {layer.kernel, layer.kernel};
  spec.stride = {layer.stride, layer.stride};
  const std::int64_t pad = layer.kernel / 2;
  spec.padding = {pad, pad};
  const at::Tensor x =
      channels_last({layer.batch, layer.in, layer.side, layer.side});
  const at::Tensor weight =
      channels_last({layer.out, layer.in, layer.kernel, layer.kernel});
  const std::vector<std::int64_t> stride(2, layer.stride);
  const std::vector<std::int64_t> padding(2, pad);
  const at::Tensor y = at::conv2d(x, weight, {}, stride, padding);
  const at::Tensor gradient = channels_last(y.sizes());
  const double flop = 2.0 * static_cast<double>(y.numel()) *
      static_cast<double>(layer.in * layer.kernel * layer.kernel);
  const auto stock_gradient = [&](bool of_x, bool of_weight) {
    at::convolution_backward(
        gradient,
        x,
        weight,
        at::nullopt,
        stride,
        padding,
        {1, 1},
        false,
        {0, 0},
        1,
        {of_x, of_weight, false});
  };
  std::printf(
      "%-19s %3ldx%3ld %4ld->%4ld %ldx%ld/%ld",
      layer.network,
      static_cast<long>(layer.side),
      static_cast<long>(layer.side),
      static_cast<long>(layer.in),
      static_cast<long>(layer.out),
      static_cast<long>(layer.kernel),
      static_cast<long>(layer.kernel),
      static_cast<long>(layer.stride));
  print(
      "y",
      flop,
      best_ms(
          rounds,
          [&] { convolution(spec, x, weight, {}); },
          [&] { at::conv2d(x, weight, {}, stride, padding); }));
  print(
      "dx",
      flop,
      best_ms(
          rounds,
          [&] { convolution_x_gradient(spec, x.sizes(), weight, gradient); },
          [&] { stock_gradient(true, false); }));
  print(
      "dw",
      flop,
      best_ms(
          rounds,
          [&] { convolution_weight_gradient(spec, x, weight, gradient); },
          [&] { stock_gradient(false, true); }));
  std::printf("\n");
  std::fflush(stdout);
}

void measure_pool(std::int64_t channels, std::int64_t padding, int rounds) {
  ConvSpec spec;
  spec.kernel = {3, 3};
  spec.padding = {padding, padding};
  const OpPointer op = make_conv_act_pool(spec, Activation::kRelu, 2);
  const at::Tensor x = channels_last({32, channels, 256, 256});
  const at::Tensor weight =
      channels_last({32, channels, 3, 3}).requires_grad_();
  const at::Tensor bias = at::randn({32}).requires_grad_();
  at::Tensor ours;
  at::Tensor theirs;
  std::printf("conv+relu+pool 256x256 %2ld->32", static_cast<long>(channels));
  const double flop =
      2.0 * 32 * 254 * 254 * 32 * 9 * static_cast<double>(channels);
  print(
      "y",
      flop,
      best_ms(
          rounds,
          [&] {
            ours = apply_fused(op, {x, weight, bias});
          },
          [&] {
            theirs = at::max_pool2d(
                at::relu(
                    at::conv2d(x, weight, bias, {1, 1}, {padding, padding})),
                {2, 2});
          }));
  const at::Tensor gradient = at::randn_like(ours);
  const auto backward = [&](const at::Tensor& y) {
    y.backward(gradient, true);
  };
  print(
      "dw",
      flop,
      best_ms(
          rounds, [&] { backward(ours); }, [&] { backward(theirs); }));
  std::printf("\n");
}

} // namespace

int main(int count, char** arguments) {
  const int rounds = count > 1 ? std::atoi(arguments[1]) : 5;
  const std::string part = count > 2 ? arguments[2] : "";
  at::set_num_threads(1);
  for (const kernels::Target target : kernels::runnable_targets()) {
    if (target == kernels::Target::kBaseline) continue;
    kernels::choose_target(target);
    std::printf(
        "%s: ms ours, ms LibTorch, GFLOP/s ours, ratio\n",
        kernels::name_of(target).c_str());
    for (const Layer& layer : kLayers)
      if (std::string(layer.network).find(part) != std::string::npos)
        measure(layer, rounds);
    if (!part.empty() && part != "pool") continue;
    measure_pool(3, 0, rounds);
    measure_pool(1, 1, rounds);
  }
  return 0;
}
