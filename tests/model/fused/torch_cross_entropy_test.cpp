#include "temper/model/fused/cross_entropy.h"

#include <cmath>

#include "tests/model/fused/against_float64.h"

namespace temper::model {
namespace {

struct LossCase {
  at::Tensor logits;
  at::Tensor targets;
  at::Tensor weights;
  CrossEntropySpec spec;
};

at::Tensor stock_loss(const LossCase& c, const at::Tensor& logits) {
  const auto type = logits.scalar_type();
  c10::optional<at::Tensor> weights;
  if (c.weights.defined()) weights = c.weights.to(type);
  return at::cross_entropy_loss(
      logits,
      c.targets,
      weights,
      c.spec.mean ? at::Reduction::Mean : at::Reduction::Sum,
      c.spec.ignore_index,
      c.spec.label_smoothing);
}

using Loss = std::function<at::Tensor(const at::Tensor& logits)>;

OpTensors loss_and_gradient(const Loss& loss, const at::Tensor& logits) {
  const at::Tensor x = logits.detach().alias().requires_grad_();
  const at::Tensor y = loss(x);
  const auto g = torch::autograd::grad({y * 0.3}, {x});
  return {y.detach(), g[0]};
}

void expect_loss(const Loss& ours, const Loss& stock, const at::Tensor& x) {
  constexpr double kFewRoundings = 4.0 / (1 << 24);
  const OpTensors exact = loss_and_gradient(stock, x.to(at::kDouble));
  const OpTensors usual = loss_and_gradient(stock, x);
  for (const kernels::Target target : kernels::runnable_targets()) {
    SCOPED_TRACE(kernels::name_of(target));
    kernels::choose_target(target);
    const OpTensors found = loss_and_gradient(ours, x);
    for (std::size_t i = 0; i < 2; ++i) {
      ASSERT_EQ(found[i].sizes(), exact[i].sizes());
      EXPECT_LE(
          relative_error(found[i], exact[i]),
          2 * relative_error(usual[i], exact[i]) + kFewRoundings)
          << i;
    }
  }
  kernels::choose_fastest_target();
}

void expect_loss(const LossCase& c) {
  expect_loss(
      [&](const at::Tensor& x) {
        return fused_cross_entropy(x, c.targets, c.weights, c.spec);
      },
      [&](const at::Tensor& x) { return stock_loss(c, x); },
      c.logits);
}

TEST(FusedCrossEntropy, IsAsExactAsLibTorchWithAllItsOptions) {
  at::manual_seed(21);
  for (const std::int64_t classes : {1, 2, 10, 65, 1000})
    for (const bool mean : {false, true})
      for (const double smoothing : {0.0, 0.1})
        for (const bool weighted : {false, true}) {
          SCOPED_TRACE(classes);
          LossCase c;
          c.logits = at::randn({130, classes}) * 4;
          c.targets = at::randint(classes, {130}, at::kLong);
          if (weighted) c.weights = at::rand({classes}) + 0.5;
          c.spec.mean = mean;
          c.spec.label_smoothing = smoothing;
          c.spec.ignore_index = 0;
          if (classes == 1) c.spec.ignore_index = -100;
          expect_loss(c);
        }
}

TEST(FusedCrossEntropy, FindsClassesInTheSecondDimensionWhereverTheyLie) {
  at::manual_seed(22);
  for (const bool together : {false, true}) {
    LossCase c;
    c.logits = together ? at::randn({6, 33, 17}).transpose(1, 2)
                        : at::randn({6, 17, 33});
    c.targets = at::randint(17, {6, 33}, at::kLong);
    c.spec.label_smoothing = 0.05;
    expect_loss(c);
    c.logits = at::randn({2, 17, 3, 5});
    c.targets = at::randint(17, {2, 3, 5}, at::kLong);
    expect_loss(c);
  }
}

TEST(FusedCrossEntropy, TakesProbabilitiesAsMixupMakesThem) {
  at::manual_seed(23);
  for (const bool weighted : {false, true}) {
    const at::Tensor soft = at::softmax(at::randn({70, 10}), 1);
    const at::Tensor weights = weighted ? at::rand({10}) + 0.5 : at::Tensor();
    expect_loss(
        [&](const at::Tensor& x) {
          return fused_soft_cross_entropy(x, soft, weights);
        },
        [&](const at::Tensor& x) {
          at::Tensor terms =
              at::log_softmax(x, 1).mul(soft.to(x.scalar_type()));
          if (weighted) terms = terms.mul(weights.to(x.scalar_type()));
          return terms.sum().neg();
        },
        at::randn({70, 10}));
  }
}

TEST(FusedCrossEntropy, RefusesLabelsOutOfRangeAsLibTorchDoes) {
  const at::Tensor x = at::randn({3, 4}).requires_grad_();
  for (const std::int64_t wrong : {-1, 4}) {
    at::Tensor labels = at::zeros({3}, at::kLong);
    labels[1] = wrong;
    EXPECT_THROW(fused_cross_entropy(x, labels, {}, {}), c10::Error);
  }
}

TEST(FusedCrossEntropy, HandsNotANumberOnAndIgnoresWhatIsIgnored) {
  at::Tensor x = at::randn({3, 20});
  x[1][4] = NAN;
  x.requires_grad_();
  at::Tensor labels = at::zeros({3}, at::kLong);
  CrossEntropySpec spec;
  at::Tensor y = fused_cross_entropy(x, labels, {}, spec);
  EXPECT_TRUE(std::isnan(y.item<double>()));
  at::Tensor g = torch::autograd::grad({y}, {x})[0];
  EXPECT_TRUE(g[1].isnan().all().item<bool>());
  EXPECT_FALSE(g[0].isnan().any().item<bool>());
  labels[1] = spec.ignore_index;
  y = fused_cross_entropy(x, labels, {}, spec);
  EXPECT_TRUE(std::isfinite(y.item<double>()));
  g = torch::autograd::grad({y}, {x})[0];
  EXPECT_TRUE(at::equal(g[1], at::zeros({20})));
  labels.fill_(spec.ignore_index);
  spec.mean = true; // of nothing
  EXPECT_TRUE(
      std::isnan(fused_cross_entropy(x, labels, {}, spec).item<double>()));
}

TEST(FusedCrossEntropy, SurvivesInfiniteScoresThatHaveNoWeight) {
  at::Tensor x = at::randn({2, 40});
  x[0][3] = -INFINITY;
  x.requires_grad_();
  const at::Tensor labels = at::zeros({2}, at::kLong);
  const at::Tensor y = fused_cross_entropy(x, labels, {}, {});
  EXPECT_TRUE(std::isfinite(y.item<double>()));
  EXPECT_EQ(torch::autograd::grad({y}, {x})[0][0][3].item<float>(), 0.0f);
}

TEST(FusedCrossEntropy, LeavesOtherTypesToLibTorch) {
  const at::Tensor x = at::randn({3, 4}, at::kDouble);
  const at::Tensor labels = at::zeros({3}, at::kLong);
  EXPECT_EQ(
      fused_cross_entropy(x, labels, {}, {}).item<double>(),
      at::cross_entropy_loss(x, labels, {}, at::Reduction::Sum).item<double>());
}

TEST(FusedCrossEntropy, GivesTheSameBitsOnAnyNumberOfThreads) {
  at::manual_seed(24);
  const at::Tensor x = at::randn({3000, 65});
  const at::Tensor labels = at::randint(65, {3000}, at::kLong);
  use_torch_threads();
  const int threads = at::get_num_threads();
  std::vector<OpTensors> all;
  for (const int count : {1, 2, 3}) {
    at::set_num_threads(count);
    all.push_back(loss_and_gradient(
        [&](const at::Tensor& logits) {
          return fused_cross_entropy(logits, labels, {}, {});
        },
        x));
  }
  at::set_num_threads(threads);
  kernels::set_thread_count(nullptr);
  for (const OpTensors& other : all)
    for (std::size_t i = 0; i < 2; ++i)
      EXPECT_TRUE(at::equal(all.front()[i], other[i])) << i;
}

} // namespace
} // namespace temper::model
