// The step of dense layers without autograd, held against autograd.
#include "temper/model/fused/dense_step.h"

#include <cmath>

#include "tests/model/fused/against_float64.h"

namespace temper::model {
namespace {

struct DenseCase {
  std::vector<std::int64_t> widths; // in, hidden ..., out
  std::int64_t rows = 1;
  kernels::Activation act = kernels::Activation::kRelu;
  bool biases = true;
  double smoothing = 0;
  bool weighted = false;
};

struct DenseNetwork {
  std::vector<DenseStepLayer> layers;
  DenseStepWork work;

  explicit DenseNetwork(const DenseCase& of) {
    for (std::size_t i = 0; i + 1 < of.widths.size(); ++i) {
      const std::int64_t in = of.widths[i];
      const std::int64_t out = of.widths[i + 1];
      const bool last = i + 2 == of.widths.size();
      layers.push_back(
          {normal({out, in}, 1 / std::sqrt(static_cast<double>(in))),
           of.biases ? normal({out}, 0.3) : at::Tensor(),
           last ? kernels::Activation::kNone : of.act});
    }
    const std::int64_t classes = of.widths.back();
    work.x = at::randn({of.rows, of.widths.front()});
    work.labels = at::randint(classes, {of.rows}, at::kLong);
    if (of.weighted) work.class_weights = at::rand({classes}) + 0.5;
    work.label_smoothing = of.smoothing;
    work.factor = 1.0 / static_cast<double>(of.rows);
    work.top = classes > 5 ? 5 : 0;
  }

  OpTensors parameters() const {
    OpTensors all;
    for (const DenseStepLayer& layer : layers) {
      all.push_back(layer.weight);
      if (layer.bias.defined()) all.push_back(layer.bias);
    }
    return all;
  }

  // The loss, then the gradients of loss * factor, by autograd.
  OpTensors by_autograd(at::ScalarType type) const {
    at::Tensor y = work.x.to(type);
    OpTensors used;
    const auto copy = [&](const at::Tensor& from) {
      if (!from.defined()) return from;
      used.push_back(from.detach().to(type, false, true).requires_grad_());
      return used.back();
    };
    for (const DenseStepLayer& layer : layers) {
      const at::Tensor weight = copy(layer.weight);
      const at::Tensor bias = copy(layer.bias);
      y = at::linear(y, weight, bias);
      if (layer.act == kernels::Activation::kRelu) y = at::relu(y);
      if (layer.act == kernels::Activation::kGelu) y = at::gelu(y);
    }
    const at::Tensor loss = at::cross_entropy_loss(
        y,
        work.labels,
        work.class_weights.defined()
            ? c10::optional<at::Tensor>(work.class_weights.to(type))
            : c10::nullopt,
        at::Reduction::Sum,
        -100,
        work.label_smoothing);
    OpTensors found{loss.detach()};
    for (const at::Tensor& one :
         torch::autograd::grad({loss * work.factor}, used))
      found.push_back(one);
    return found;
  }
};

const DenseCase kDenseCases[] = {
    {{256, 512, 10}, 32},
    {{256, 512, 10}, 300},
    {{7, 5, 3, 2}, 1},
    {{20, 33, 17, 12}, 19, kernels::Activation::kGelu, true, 0.1, true},
    {{64, 40, 6}, 64, kernels::Activation::kRelu, false, 0, true},
    {{30, 4}, 8}};

TEST(DenseStep, IsAsExactAsAutograd) {
  constexpr double kFewRoundings = 4.0 / (1 << 24);
  at::manual_seed(3);
  for (const DenseCase& of : kDenseCases) {
    SCOPED_TRACE(of.widths.size() * 1000 + static_cast<std::size_t>(of.rows));
    const DenseNetwork net(of);
    const OpTensors exact = net.by_autograd(at::kDouble);
    const OpTensors usual = net.by_autograd(at::kFloat);
    for (const kernels::Target target : kernels::runnable_targets()) {
      SCOPED_TRACE(kernels::name_of(target));
      kernels::choose_target(target);
      DenseStep step(net.layers);
      const auto done = step.run(net.work);
      ASSERT_TRUE(done);
      EXPECT_NEAR(
          done->loss,
          exact[0].item<double>(),
          2 * std::abs(usual[0].item<double>() - exact[0].item<double>()) +
              kFewRoundings * exact[0].item<double>());
      const OpTensors parameters = net.parameters();
      for (std::size_t i = 0; i < parameters.size(); ++i)
        EXPECT_LE(
            relative_error(parameters[i].grad(), exact[i + 1]),
            2 * relative_error(usual[i + 1], exact[i + 1]) + kFewRoundings)
            << i;
    }
    kernels::choose_fastest_target();
  }
}

TEST(DenseStep, CountsRightPredictions) {
  at::manual_seed(4);
  const DenseNetwork net({{6, 9}, 50});
  DenseStep step(net.layers);
  const auto done = step.run(net.work);
  const at::Tensor scores =
      at::linear(net.work.x, net.layers[0].weight, net.layers[0].bias).detach();
  EXPECT_EQ(
      done->best,
      scores.argmax(1).eq(net.work.labels).sum().item<std::int64_t>());
  EXPECT_EQ(
      done->among_top,
      std::get<1>(scores.topk(5, 1))
          .eq(net.work.labels.unsqueeze(1))
          .sum()
          .item<std::int64_t>());
  EXPECT_GT(done->among_top, done->best);
}

TEST(DenseStep, GradientsTakeThePlaceOfThoseBefore) {
  at::manual_seed(5);
  const DenseNetwork net({{6, 8, 3}, 4});
  DenseStep step(net.layers);
  ASSERT_TRUE(step.run(net.work));
  const at::Tensor first = net.layers[0].weight.grad();
  const at::Tensor before = first.clone();
  ASSERT_TRUE(step.run(net.work));
  EXPECT_TRUE(net.layers[0].weight.grad().is_same(first));
  EXPECT_TRUE(at::equal(first, before));
  // Another number of rows: what was laid out is laid out again.
  DenseStepWork longer = net.work;
  longer.x = at::cat({net.work.x, net.work.x});
  longer.labels = at::cat({net.work.labels, net.work.labels});
  ASSERT_TRUE(step.run(longer));
  EXPECT_LT(relative_error(first, (before * 2).to(at::kDouble)), 1e-6);
}

TEST(DenseStep, DeclinesWhatAutogradHasToDo) {
  at::manual_seed(6);
  const auto declines = [](const auto& change) {
    DenseNetwork net({{6, 8, 3}, 4});
    change(net);
    const bool declined = !DenseStep(net.layers).run(net.work);
    for (const at::Tensor& one : net.parameters())
      EXPECT_FALSE(one.grad().defined());
    return declined;
  };
  EXPECT_TRUE(declines([](DenseNetwork& net) {
    net.layers[0].weight.set_requires_grad(false);
  }));
  EXPECT_TRUE(declines(
      [](DenseNetwork& net) { net.work.x = net.work.x.to(at::kDouble); }));
  EXPECT_TRUE(declines([](DenseNetwork& net) {
    net.work.x = at::randn({4, 5});
  }));
  EXPECT_TRUE(
      declines([](DenseNetwork& net) { net.work.labels = at::full({4}, 3); }));
  EXPECT_TRUE(declines([](DenseNetwork& net) {
    net.work.labels = net.work.labels.to(at::kInt);
  }));
}

TEST(DenseStep, GivesTheSameBitsOnAnyNumberOfThreads) {
  at::manual_seed(7);
  use_torch_threads();
  const int threads = at::get_num_threads();
  for (const std::int64_t rows : {32, 700}) {
    const DenseNetwork net({{256, 512, 10}, rows});
    std::vector<OpTensors> all;
    std::vector<double> losses;
    for (const int count : {1, 2, 3}) {
      at::set_num_threads(count);
      DenseStep step(net.layers);
      losses.push_back(step.run(net.work)->loss);
      OpTensors found;
      for (const at::Tensor& one : net.parameters())
        found.push_back(one.grad().clone());
      all.push_back(found);
    }
    for (std::size_t i = 1; i < all.size(); ++i) {
      EXPECT_EQ(losses[i], losses[0]);
      for (std::size_t k = 0; k < all[i].size(); ++k)
        EXPECT_TRUE(at::equal(all[i][k], all[0][k])) << k;
    }
  }
  at::set_num_threads(threads);
  kernels::set_thread_count(nullptr);
}

} // namespace
} // namespace temper::model
