// Our kernels of sequence models beside LibTorch's own operators, by CPU time
// of this process: linear layers of vit_tiny (32x32 pixels, batch 128),
// gpt_tiny (128 characters, batch 32) and a small MLP, LayerNorm, GELU,
// attention, whole transformer blocks and cross-entropy, forward and backward.
//   temper_bench_kernels_sequence [threads] [seconds a row] [avx2]
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <time.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "temper/kernels/fma_peak.h"
#include "temper/kernels/sequence/activate.h"
#include "temper/kernels/simd/target.h"
#include "temper/kernels/simd/threads.h"
#include "temper/model/fused/cross_entropy.h"
#include "temper/model/fused/layers.h"
#include "temper/model/fused/torch_threads.h"

namespace {

using namespace temper;
using namespace temper::model;
using Tensors = FusedOp::Tensors;
using Formula = std::function<at::Tensor(const Tensors&)>;

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) +
      1e-9 * static_cast<double>(now.tv_nsec);
}

double seconds_a_row = 1.0;

struct Times {
  double forward = 1e9;
  double backward = 1e9;
  std::vector<double> both;

  double median() {
    std::sort(both.begin(), both.end());
    return both[both.size() / 2];
  }
  double least() const {
    return forward + backward;
  }
};

void run_once(const Formula& formula, const Tensors& inputs, Times& times) {
  Tensors wanted;
  for (const at::Tensor& one : inputs)
    if (one.defined() && one.requires_grad()) wanted.push_back(one);
  const double start = cpu_seconds();
  const at::Tensor y = formula(inputs);
  const double middle = cpu_seconds();
  static at::Tensor ones;
  ones = at::ones(y.sizes());
  const double again = cpu_seconds();
  torch::autograd::grad({y}, wanted, {ones});
  const double end = cpu_seconds();
  times.forward = std::min(times.forward, middle - start);
  times.backward = std::min(times.backward, end - again);
  times.both.push_back(middle - start + end - again);
}

// `flops`: of the forward pass; the backward pass has twice as many.
void compare(
    const std::string& name,
    const Formula& ours,
    const Formula& stock,
    const Tensors& inputs,
    double flops) {
  Times mine;
  Times theirs;
  const double until = cpu_seconds() + seconds_a_row;
  for (int i = 0; i < 5 || (cpu_seconds() < until && i < 2000); ++i) {
    run_once(ours, inputs, mine);
    run_once(stock, inputs, theirs);
  }
  std::printf(
      "%-30s ours %9.3f + %9.3f ms",
      name.c_str(),
      1e3 * mine.forward,
      1e3 * mine.backward);
  if (flops > 0)
    std::printf(
        " %6.1f | %6.1f GFLOP/s",
        1e-9 * flops / mine.forward,
        2e-9 * flops / mine.backward);
  else
    std::printf("%26s", "");
  std::printf(
      "  LibTorch %9.3f + %9.3f ms  x%.2f (median x%.2f)\n",
      1e3 * theirs.forward,
      1e3 * theirs.backward,
      theirs.least() / mine.least(),
      theirs.median() / mine.median());
  std::fflush(stdout);
}

Formula fused(const OpPointer& op) {
  return [op](const Tensors& in) { return apply_fused(op, in); };
}

at::Tensor normal(at::IntArrayRef sizes, double size = 1) {
  return (at::randn(sizes) * size).requires_grad_();
}

void linear(std::int64_t rows, std::int64_t in, std::int64_t out) {
  compare(
      "linear " + std::to_string(rows) + " x " + std::to_string(in) + " -> " +
          std::to_string(out),
      fused(make_linear(Activation::kNone)),
      [](const Tensors& t) { return at::linear(t[0], t[1], t[2]); },
      {normal({rows, in}), normal({out, in}, 0.1), normal({out}), {}},
      2.0 * static_cast<double>(rows * in * out));
}

void mlp() {
  const OpPointer first = make_linear(Activation::kRelu);
  const OpPointer second = make_linear(Activation::kNone);
  const at::Tensor x = at::randn({32, 256});
  compare(
      "MLP 32 x 256 -> 512 -> 10",
      [&](const Tensors& t) {
        const at::Tensor h = apply_fused(first, {x, t[0], t[1], {}});
        return apply_fused(second, {h, t[2], t[3], {}});
      },
      [&](const Tensors& t) {
        return at::linear(at::relu(at::linear(x, t[0], t[1])), t[2], t[3]);
      },
      {normal({512, 256}, 0.1),
       normal({512}),
       normal({10, 512}, 0.1),
       normal({10})},
      0);
}

void layer_norm(std::int64_t rows, std::int64_t columns) {
  compare(
      "LayerNorm " + std::to_string(rows) + " x " + std::to_string(columns),
      fused(make_layer_norm(1e-5)),
      [=](const Tensors& t) {
        return at::layer_norm(t[0], {columns}, t[1], t[2], 1e-5);
      },
      {normal({rows, columns}), normal({columns}), normal({columns})},
      0);
}

// The kernels alone, into memory that is there.
void gelu(std::int64_t count, bool tanh) {
  const Activation act = tanh ? Activation::kGeluTanh : Activation::kGelu;
  const at::Tensor x = at::randn({count});
  const at::Tensor g = at::randn({count});
  at::Tensor y = at::empty({count});
  at::Tensor dx = at::empty({count});
  double mine = 1e9;
  double theirs = 1e9;
  const at::NoGradGuard no_grad;
  for (int i = 0; i < 30; ++i) {
    double start = cpu_seconds();
    kernels::activate_forward(
        act, count, x.data_ptr<float>(), y.data_ptr<float>());
    kernels::activate_backward(
        act,
        count,
        x.data_ptr<float>(),
        g.data_ptr<float>(),
        dx.data_ptr<float>());
    mine = std::min(mine, cpu_seconds() - start);
    start = cpu_seconds();
    at::gelu_out(y, x, tanh ? "tanh" : "none");
    at::gelu_backward_out(dx, g, x, tanh ? "tanh" : "none");
    theirs = std::min(theirs, cpu_seconds() - start);
  }
  std::printf(
      "%-30s ours %9.3f ms  LibTorch %9.3f ms  x%.2f\n",
      (std::string("GELU ") + (tanh ? "tanh " : "erf ") + std::to_string(count))
          .c_str(),
      1e3 * mine,
      1e3 * theirs,
      theirs / mine);
}

at::Tensor stock_attention(
    const at::Tensor& q,
    const at::Tensor& k,
    const at::Tensor& v,
    bool causal) {
  const double half = std::sqrt(1 / std::sqrt(static_cast<double>(q.size(3))));
  at::Tensor scores = at::matmul(q * half, (k * half).transpose(-2, -1));
  if (causal)
    scores = scores.masked_fill(
        at::ones({q.size(2), k.size(2)}, at::kBool).tril().logical_not(),
        -INFINITY);
  return at::matmul(at::softmax(scores, -1), v);
}

void attention(
    std::int64_t batch,
    std::int64_t heads,
    std::int64_t tokens,
    std::int64_t width,
    bool causal) {
  const at::Tensor all =
      at::randn({batch, tokens, 3, heads, width}).permute({2, 0, 3, 1, 4});
  compare(
      "attention " + std::to_string(batch) + " x " + std::to_string(heads) +
          " x " + std::to_string(tokens) + " x " + std::to_string(width) +
          (causal ? " causal" : ""),
      fused(make_attention({.causal = causal, .scale = {}})),
      [=](const Tensors& t) {
        return stock_attention(t[0], t[1], t[2], causal);
      },
      {all[0].requires_grad_(),
       all[1].requires_grad_(),
       all[2].requires_grad_()},
      4.0 * static_cast<double>(batch * heads * tokens * tokens * width) *
          (causal ? 0.5 : 1));
}

void block(
    const std::string& name,
    std::int64_t batch,
    std::int64_t tokens,
    std::int64_t d,
    const TransformerBlockSpec& spec) {
  const std::int64_t h = 4 * d;
  const Tensors in{
      normal({batch, tokens, d}),
      normal({d}),
      normal({d}),
      normal({3 * d, d}, 0.05),
      normal({3 * d}, 0.1),
      normal({d, d}, 0.05),
      normal({d}, 0.1),
      normal({d}),
      normal({d}),
      normal({h, d}, 0.05),
      normal({h}, 0.1),
      normal({d, h}, 0.05),
      normal({d}, 0.1)};
  const double rows = static_cast<double>(batch * tokens);
  const double flops = rows *
      (24.0 * static_cast<double>(d * d) +
       4.0 * static_cast<double>(d * tokens) *
           (spec.attention.causal ? 0.5 : 1));
  compare(
      name,
      fused(make_transformer_block(spec)),
      [=](const Tensors& t) {
        const auto norm = [&](const at::Tensor& x, std::size_t at, double eps) {
          return at::layer_norm(x, {d}, t[at], t[at + 1], eps);
        };
        at::Tensor y = at::linear(norm(t[0], 1, spec.eps1), t[3], t[4]);
        const auto parts =
            y.reshape({batch, tokens, 3, spec.heads, d / spec.heads})
                .permute({2, 0, 3, 1, 4})
                .unbind(0);
        y = stock_attention(parts[0], parts[1], parts[2], spec.attention.causal)
                .transpose(1, 2)
                .reshape({batch, tokens, d});
        const at::Tensor middle = t[0] + at::linear(y, t[5], t[6]);
        y = at::gelu(at::linear(norm(middle, 7, spec.eps2), t[9], t[10]));
        return middle + at::linear(y, t[11], t[12]);
      },
      in,
      flops);
}

void cross_entropy(std::int64_t rows, std::int64_t classes) {
  const at::Tensor labels = at::randint(classes, {rows}, at::kLong);
  compare(
      "cross-entropy " + std::to_string(rows) + " x " + std::to_string(classes),
      [=](const Tensors& t) {
        return fused_cross_entropy(t[0], labels, {}, {});
      },
      [=](const Tensors& t) {
        return at::cross_entropy_loss(t[0], labels, {}, at::Reduction::Sum);
      },
      {normal({rows, classes})},
      0);
}

} // namespace

int main(int count, char** words) {
  at::set_num_threads(count > 1 ? std::atoi(words[1]) : 1);
  if (count > 2) seconds_a_row = std::atof(words[2]);
  if (count > 3 && std::string(words[3]) == "avx2")
    kernels::choose_target(kernels::Target::kAvx2);
  use_torch_threads();
  std::printf(
      "%d threads, %s\n",
      at::get_num_threads(),
      kernels::name_of(kernels::target()).c_str());
  mlp();
  linear(32, 256, 512);
  linear(128, 192, 10);
  linear(8320, 192, 576);
  linear(8320, 192, 192);
  linear(8320, 192, 768);
  linear(8320, 768, 192);
  linear(4096, 128, 384);
  linear(4096, 128, 128);
  linear(4096, 128, 512);
  linear(4096, 512, 128);
  linear(4096, 128, 65);
  layer_norm(8320, 192);
  layer_norm(4096, 128);
  gelu(8320 * 768, false);
  gelu(4096 * 512, true);
  attention(128, 3, 65, 64, false);
  attention(32, 4, 128, 32, true);
  cross_entropy(128, 10);
  cross_entropy(4096, 65);
  TransformerBlockSpec vit;
  vit.heads = 3;
  vit.eps1 = vit.eps2 = 1e-6;
  block("vit_tiny block, batch 128", 128, 65, 192, vit);
  TransformerBlockSpec gpt;
  gpt.heads = 4;
  gpt.attention.causal = true;
  block("gpt_tiny block, batch 32", 32, 128, 128, gpt);
  return 0;
}
