#include "temper/libtorch/device_trial.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <chrono>

#include "temper/base/text.h"
#include "temper/libtorch/facts.h"
#include "temper/libtorch/torch/device_name.h"

namespace temper::libtorch {
namespace {

// LibTorch's messages go on for pages; the first line carries the cause.
std::string cause_in(const std::string& message) {
  constexpr std::size_t kMost = 240;
  std::string line(trim(message.substr(0, message.find('\n'))));
  if (line.size() > kMost) line = cat(line.substr(0, kMost), "...");
  return line;
}

} // namespace

DeviceTrial try_device(const std::string& name) {
  try {
    const at::NoGradGuard no_grad;
    const at::Device device = device_of(name);
    // Small whole numbers: the product is exact in float32 on any device, in
    // whatever order it adds.
    constexpr int kSize = 32;
    const at::Tensor host =
        at::arange(kSize * kSize, at::kFloat).reshape({kSize, kSize}).fmod(7);
    const at::Tensor expected = host.mm(host.t());
    const at::Tensor moved = host.to(device);
    const at::Tensor back = moved.mm(moved.t()).to(at::kCPU);
    if (back.equal(expected)) return {true, ""};
    return {
        false,
        cat("it computed a wrong product: off by ",
            (back - expected).abs().max().item<float>())};
  } catch (const c10::Error& error) {
    return {false, cause_in(error.what_without_backtrace())};
  } catch (const std::exception& error) {
    return {false, cause_in(error.what())};
  }
}

double sgemm_gflops(int size, double seconds) {
  using Clock = std::chrono::steady_clock;
  const at::NoGradGuard no_grad;
  const int threads = at::get_num_threads();
  set_threads_here(1);
  const at::Tensor a = at::ones({size, size}, at::kFloat);
  at::Tensor product = at::mm(a, a); // warm: buffers, kernel choice
  const double flops = 2.0 * size * size * size;
  double best = 0;
  const auto stop = Clock::now() + std::chrono::duration<double>(seconds);
  do {
    const auto begin = Clock::now();
    at::mm_out(product, a, a);
    const std::chrono::duration<double> took = Clock::now() - begin;
    best = std::max(best, flops / took.count() / 1e9);
  } while (Clock::now() < stop);
  set_threads_here(threads);
  return best;
}

} // namespace temper::libtorch
