// The simulated device: the CPU's numbers bit for bit, exact counts, and
// failures that arrive as exceptions and leave nothing behind.
#include <ATen/core/grad_mode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>
#include <torch/optim/adam.h>
#include <torch/optim/sgd.h>
// Of 1.13, this relies on those above.
#include <torch/nn/utils/clip_grad.h>

#include <thread>

#include "temper/libtorch/device_trial.h"
#include "temper/libtorch/out_of_memory.h"
#include "temper/libtorch/sim/sim.h"
#include "temper/libtorch/torch/device_name.h"

namespace temper::libtorch {
namespace {

using testing::HasSubstr;

// What the exception says that `work` ends with, LibTorch's or ours.
template <class Work>
std::string complaint(const Work& work) {
  try {
    work();
  } catch (const c10::Error& error) {
    return error.what_without_backtrace();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

struct NetImpl : torch::nn::Module {
  NetImpl() {
    conv = register_module(
        "conv",
        torch::nn::Conv2d(torch::nn::Conv2dOptions(3, 8, 3).padding(1)));
    norm = register_module("norm", torch::nn::BatchNorm2d(8));
    linear = register_module("linear", torch::nn::Linear(8 * 4 * 4, 10));
  }
  at::Tensor forward(const at::Tensor& x) {
    const at::Tensor seen = at::relu(norm(conv(x)));
    return at::log_softmax(linear(at::max_pool2d(seen, 2).flatten(1)), 1);
  }
  torch::nn::Conv2d conv{nullptr};
  torch::nn::BatchNorm2d norm{nullptr};
  torch::nn::Linear linear{nullptr};
};
TORCH_MODULE(Net);

Net net_on(const at::Device& device) {
  at::manual_seed(1);
  Net net;
  net->to(device);
  return net;
}

std::pair<at::Tensor, at::Tensor> batch(int samples) {
  at::manual_seed(2);
  const at::Tensor images = at::randn({samples, 3, 8, 8});
  return {images, at::randint(10, {samples}, at::kLong)};
}

class Sim : public ::testing::Test {
 protected:
  Sim() : device_(device_of("sim")) {
    sim::set_rules({});
    sim::reset_counts();
  }
  ~Sim() override {
    sim::set_rules({});
  }

  at::Tensor loss_of(Net& net, int samples) const {
    const auto [images, labels] = batch(samples);
    return at::nll_loss(net(images.to(device_)), labels.to(device_));
  }

  at::Device device_;
};

void forget_gradients(Net& net) {
  for (at::Tensor& each : net->parameters())
    each.mutable_grad() = at::Tensor();
}

TEST_F(Sim, IsCalledSim) {
  EXPECT_EQ(name_of(device_), "sim");
  EXPECT_EQ(name_of(at::Device("cpu")), "cpu");
  const DeviceTrial trial = try_device("sim");
  EXPECT_TRUE(trial.works) << trial.why_not;
}

template <class Optimizer, class Options>
std::vector<at::Tensor> trained(const at::Device& device, Options options) {
  Net net = net_on(device);
  Optimizer optimizer(net->parameters(), options);
  std::vector<at::Tensor> seen;
  for (int i = 0; i < 4; ++i) {
    const auto [images, labels] = batch(8 + i);
    optimizer.zero_grad();
    const at::Tensor loss =
        at::nll_loss(net(images.to(device)), labels.to(device));
    loss.backward();
    torch::nn::utils::clip_grad_norm_(net->parameters(), 0.5);
    optimizer.step();
    seen.push_back(loss.detach());
  }
  net->eval();
  seen.push_back(net(batch(5).first.to(device)).detach());
  for (const at::Tensor& each : net->parameters())
    seen.push_back(each.detach());
  for (const at::Tensor& each : net->buffers())
    seen.push_back(each);
  return seen;
}

void expect_same(
    const std::vector<at::Tensor>& there,
    const std::vector<at::Tensor>& here) {
  ASSERT_EQ(there.size(), here.size());
  for (std::size_t i = 0; i < here.size(); ++i) {
    EXPECT_EQ(there[i].device().type(), at::kPrivateUse1);
    EXPECT_TRUE(at::equal(there[i].to(at::kCPU), here[i])) << i;
  }
}

TEST_F(Sim, TrainsWithTheBitsOfTheCpu) {
  const auto sgd = torch::optim::SGDOptions(0.1).momentum(0.9);
  expect_same(
      trained<torch::optim::SGD>(device_, sgd),
      trained<torch::optim::SGD>(at::kCPU, sgd));
  const torch::optim::AdamOptions adam(0.01);
  expect_same(
      trained<torch::optim::Adam>(device_, adam),
      trained<torch::optim::Adam>(at::kCPU, adam));
}

TEST_F(Sim, DrawsTheRandomNumbersOfTheCpu) {
  at::manual_seed(3);
  const at::Tensor there = at::dropout(at::ones({100}, device_), 0.5, true);
  at::manual_seed(3);
  const at::Tensor here = at::dropout(at::ones({100}), 0.5, true);
  EXPECT_TRUE(at::equal(there.to(at::kCPU), here));
}

TEST_F(Sim, CountsWhatAStepMovesAndRuns) {
  Net net = net_on(device_);
  const auto [images, labels] = batch(16);
  const auto step = [&] {
    forget_gradients(net);
    sim::reset_counts();
    at::nll_loss(net(images.to(device_)), labels.to(device_)).backward();
  };
  step();
  const sim::Counts first = sim::counts();
  EXPECT_EQ(first.copies_to, 2);
  EXPECT_EQ(first.bytes_to, 16U * 3 * 8 * 8 * 4 + 16 * 8);
  EXPECT_EQ(first.copies_from, 0);
  EXPECT_EQ(first.syncs, 0);
  const auto kernels = sim::kernel_counts();
  EXPECT_EQ(kernels.at("aten::convolution"), 1);
  EXPECT_EQ(kernels.at("aten::convolution_backward"), 1);
  EXPECT_EQ(kernels.at("aten::native_batch_norm"), 1);
  step();
  const sim::Counts second = sim::counts();
  EXPECT_EQ(second.kernels, first.kernels);
  EXPECT_EQ(second.allocations, first.allocations);
  EXPECT_EQ(second.peak_bytes, first.peak_bytes);
  sim::reset_counts();
  EXPECT_GT(net->linear->weight.to(at::kCPU).numel(), 0);
  EXPECT_EQ(sim::counts().copies_from, 1);
  EXPECT_EQ(sim::counts().bytes_from, 10U * 128 * 4);
  net->linear->bias.sum().item<float>();
  EXPECT_EQ(sim::counts().syncs, 2);
  EXPECT_EQ(sim::counts().copies_from, 1);
}

// Two sizes tell the bytes of every other.
TEST_F(Sim, PeaksGrowWithTheBatchByTheSameBytesASample) {
  Net net = net_on(device_);
  const auto peak = [&](int samples) {
    forget_gradients(net);
    sim::reset_counts();
    loss_of(net, samples).backward();
    return sim::counts().peak_bytes;
  };
  peak(4);
  const std::uint64_t a_sample = (peak(16) - peak(8)) / 8;
  EXPECT_GT(a_sample, 3U * 8 * 8 * 4);
  EXPECT_EQ(peak(64), peak(8) + 56 * a_sample);
}

TEST_F(Sim, RunsOutOfMemoryInForwardAndInBackward) {
  Net net = net_on(device_);
  const std::uint64_t before = sim::counts().live_bytes;
  sim::Rules rules;
  rules.memory_bytes = before + 100'000;
  sim::set_rules(rules);
  EXPECT_THAT(
      complaint([&] { loss_of(net, 64).backward(); }),
      HasSubstr("[sim] out of memory"));
  EXPECT_EQ(sim::counts().live_bytes, before);
  forget_gradients(net);
  {
    const at::Tensor loss = loss_of(net, 6);
    rules.memory_bytes = sim::counts().live_bytes + 3000;
    sim::set_rules(rules);
    try {
      loss.backward();
      ADD_FAILURE() << "there was memory";
    } catch (const c10::OutOfMemoryError& error) { // from autograd's thread
      EXPECT_TRUE(is_out_of_memory(error));
    }
  }
  forget_gradients(net);
  EXPECT_EQ(sim::counts().live_bytes, before);
  rules.memory_bytes = before + 100'000;
  sim::set_rules(rules);
  loss_of(net, 4).backward();
  EXPECT_LE(sim::counts().peak_bytes, rules.memory_bytes);
}

TEST_F(Sim, AFailureAtAnyAllocationLeavesNothingBehind) {
  Net net = net_on(device_);
  loss_of(net, 4).backward();
  forget_gradients(net);
  const std::uint64_t before = sim::counts().live_bytes;
  sim::Rules rules;
  for (rules.fail_alloc = 1; rules.fail_alloc < 200; ++rules.fail_alloc) {
    sim::set_rules(rules);
    bool failed = false;
    try {
      loss_of(net, 4).backward();
    } catch (const c10::OutOfMemoryError&) {
      failed = true;
    }
    forget_gradients(net);
    ASSERT_EQ(sim::counts().live_bytes, before) << rules.fail_alloc;
    if (!failed) break;
  }
  EXPECT_GT(rules.fail_alloc, 20);
  EXPECT_LT(rules.fail_alloc, 200);
}

TEST_F(Sim, FailsOnceOrFromThenOn) {
  sim::Rules rules;
  rules.fail_alloc = 2;
  const auto made = [&] {
    try {
      at::empty({1}, device_);
      return true;
    } catch (const c10::OutOfMemoryError&) {
      return false;
    }
  };
  for (const bool always : {false, true}) {
    rules.fail_always = always;
    sim::set_rules(rules);
    EXPECT_TRUE(made());
    EXPECT_FALSE(made());
    EXPECT_EQ(made(), !always);
  }
}

TEST_F(Sim, RefusesMixedDevices) {
  const at::Tensor there = at::ones({3}, device_);
  EXPECT_THAT(
      complaint([&] { there + at::ones({3}); }),
      HasSubstr("Expected all tensors to be on the same device"));
  EXPECT_THAT(
      complaint([&] {
        at::cat({there, at::ones({3})});
      }),
      HasSubstr("Expected all tensors to be on the same device"));
  EXPECT_EQ((there + at::scalar_tensor(2)).sum().item<float>(), 9);
  EXPECT_EQ(there.index({at::zeros({1}, at::kLong)}).numel(), 1);
}

TEST_F(Sim, HasFloat64UntilToldOtherwise) {
  EXPECT_EQ(at::ones({2}, at::kDouble).to(device_).sum().item<double>(), 2);
  sim::Rules rules;
  rules.has_float64 = false;
  sim::set_rules(rules);
  EXPECT_THAT(
      complaint([&] { at::ones({2}, at::kDouble).to(device_); }),
      HasSubstr("float64"));
  EXPECT_THAT(
      complaint([&] { at::ones({2}, device_).to(at::kDouble); }),
      HasSubstr("float64"));
}

TEST_F(Sim, ComputesWrongNumbersInTheOperatorNamed) {
  const at::Tensor ones = at::ones({2, 2}, device_);
  sim::Rules rules;
  rules.fault = "aten::mm:0.5";
  sim::set_rules(rules);
  const at::Tensor product = ones.mm(ones).to(at::kCPU);
  EXPECT_TRUE(
      at::equal(product, at::tensor({3.F, 2.F, 3.F, 2.F}).view({2, 2})));
  EXPECT_TRUE(at::equal(ones.mul(2).to(at::kCPU), at::full({2, 2}, 2.F)));
  EXPECT_THAT(try_device("sim").why_not, HasSubstr("wrong product"));
  rules.fault = "aten::mul:1";
  sim::set_rules(rules);
  EXPECT_EQ(ones.mul_(3).sum().item<float>(), 2 * 6 + 2 * 3);
  for (const char* wrong : {"mm:1", "aten::mm", "aten::mm:x"}) {
    rules.fault = wrong;
    EXPECT_THAT(
        complaint([&] { sim::set_rules(rules); }),
        HasSubstr("[sim] cannot read the fault"));
  }
}

TEST_F(Sim, KeepsItsBooksWithSeveralThreads) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      const at::NoGradGuard no_grad;
      for (int k = 0; k < 50; ++k) {
        const at::Tensor ones = at::ones({16, 16}, device_);
        EXPECT_EQ(ones.mm(ones).sum().item<float>(), 16 * 16 * 16);
      }
    });
  for (std::thread& each : threads)
    each.join();
  EXPECT_EQ(sim::counts().live_bytes, 0U);
  EXPECT_EQ(sim::kernel_counts().at("aten::mm"), 200);
}

TEST_F(Sim, ResizesAndKeepsWhatWasThere) {
  at::Tensor there = at::ones({2}, device_);
  there.resize_({4});
  EXPECT_EQ(sim::counts().live_bytes, 16U);
  there.slice(0, 2).fill_(2);
  EXPECT_EQ(there.sum().item<float>(), 6);
}

} // namespace
} // namespace temper::libtorch
