#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/linear.h>

#include <unistd.h>

#include <fstream>

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/model/module/opaque.h"

namespace temper::model {
namespace {

using testing::HasSubstr;

std::filesystem::path temporary(const char* name) {
  return std::filesystem::temp_directory_path() /
      cat("temper-opaque-", ::getpid(), "-", name);
}

struct NormNet : torch::nn::Module {
  NormNet() : norm(4), fc(4, 3) {
    register_module("norm", norm);
    register_module("fc", fc);
  }
  at::Tensor forward(const at::Tensor& x) {
    return fc(norm(x));
  }
  torch::nn::BatchNorm1d norm;
  torch::nn::Linear fc;
};

struct TwoInputs : torch::nn::Module {
  at::Tensor forward(const at::Tensor& x, const at::Tensor& y) {
    return x + y;
  }
};

struct ListInput : torch::nn::Module {
  at::Tensor forward(const std::vector<at::Tensor>& all) {
    return all[0] * static_cast<double>(all.size());
  }
};

void expect_module_manners(Module& module) {
  EXPECT_EQ(module.graph(), nullptr);
  const at::Tensor x = at::randn({5, 4});
  EXPECT_TRUE(module.training());
  module.forward({x}).sum().backward();
  std::vector<std::string> names;
  for (const auto& parameter : module.parameters()) {
    names.push_back(parameter.name);
    EXPECT_TRUE(parameter.trainable);
    EXPECT_TRUE(parameter.tensor.grad().defined()) << parameter.name;
  }
  EXPECT_THAT(
      names,
      testing::UnorderedElementsAre(
          "norm.weight", "norm.bias", "fc.weight", "fc.bias"));
  module.set_training(false);
  EXPECT_FALSE(module.training());
  const at::Tensor once = module.forward({x});
  EXPECT_TRUE(at::equal(once, module.forward({x}))) << "eval mode is still";
  module.to(at::kDouble);
  for (const auto& buffer : module.buffers())
    EXPECT_EQ(
        buffer.tensor.scalar_type(),
        contains(buffer.name, "num_batches") ? at::kLong : at::kDouble);
  const at::Tensor wide = module.forward({x.to(at::kDouble)});
  EXPECT_LT((wide - once).abs().max().item<double>(), 1e-5);
  module.to(at::Device(at::kCPU));
  EXPECT_THROW(module.to(at::kLong), Error);
}

TEST(Opaque, NnModulesTrainAndEvaluate) {
  const auto module = make_opaque(std::make_shared<NormNet>());
  expect_module_manners(*module);
}

TEST(Opaque, NnModulesTakeWhatTheirForwardTakes) {
  const at::Tensor one = at::ones({2});
  const auto two = make_opaque(std::make_shared<TwoInputs>());
  EXPECT_TRUE(at::equal(two->forward({one, one}), one * 2));
  const auto list = make_opaque(std::make_shared<ListInput>());
  EXPECT_TRUE(at::equal(list->forward({one, one, one}), one * 3));
}

TEST(Opaque, TorchscriptFilesTrainAndEvaluate) {
  // What torch.jit.script would have written.
  torch::jit::Module norm("BatchNorm");
  norm.register_parameter("weight", at::ones({4}).requires_grad_(), false);
  norm.register_parameter("bias", at::zeros({4}).requires_grad_(), false);
  norm.register_buffer("running_mean", at::zeros({4}));
  norm.register_buffer("running_var", at::ones({4}));
  norm.register_buffer("num_batches_tracked", at::tensor(0, at::kLong));
  norm.register_attribute("training", c10::BoolType::get(), true);
  norm.define(R"(
    def forward(self, x):
        return torch.batch_norm(x, self.weight, self.bias, self.running_mean,
                                self.running_var, self.training, 0.1, 1e-5, False)
  )");
  torch::jit::Module fc("Linear");
  fc.register_parameter("weight", at::randn({3, 4}).requires_grad_(), false);
  fc.register_parameter("bias", at::randn({3}).requires_grad_(), false);
  fc.register_attribute("training", c10::BoolType::get(), true);
  fc.define(R"(
    def forward(self, x):
        return torch.linear(x, self.weight, self.bias)
  )");
  torch::jit::Module net("Net");
  net.register_module("norm", norm);
  net.register_module("fc", fc);
  net.register_attribute("training", c10::BoolType::get(), true);
  net.define(R"(
    def forward(self, x):
        return (self.fc.forward(self.norm.forward(x)), x)
  )");
  const auto path = temporary("net.pt");
  net.save(path.string());
  const auto module = open_torchscript(path);
  std::filesystem::remove(path);
  expect_module_manners(*module);
}

// The interpreter throws a traceback of many lines, which is no c10::Error.
TEST(Opaque, InputsOfAnotherSizeAreRefusedInASentence) {
  torch::jit::Module net("Net");
  net.register_parameter("weight", at::randn({3, 4}).requires_grad_(), false);
  net.register_attribute("training", c10::BoolType::get(), true);
  net.define(R"(
    def forward(self, x):
        return torch.linear(x, self.weight)
  )");
  const auto path = temporary("net.pt");
  net.save(path.string());
  const auto module = open_torchscript(path);
  std::filesystem::remove(path);
  EXPECT_NO_THROW(module->forward({at::randn({2, 4})}));
  try {
    module->forward({at::randn({2, 5})});
    ADD_FAILURE() << "it was taken";
  } catch (const Error& error) {
    EXPECT_THAT(
        error.what(),
        testing::AllOf(
            HasSubstr("the TorchScript model cannot compute with float32 [2, "
                      "5]: mat1 and mat2 shapes cannot be multiplied"),
            testing::Not(HasSubstr("\n"))));
    EXPECT_THAT(error.hint(), HasSubstr("data.image_size"));
  }
}

TEST(Opaque, AFileThatIsNoTorchscriptIsRefusedInASentence) {
  const auto path = temporary("weights.pth");
  std::ofstream(path) << "not a network";
  try {
    open_torchscript(path);
    ADD_FAILURE() << "it was taken";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("is not a TorchScript file"));
    EXPECT_THAT(error.hint(), HasSubstr("torch.jit.save"));
  }
  std::filesystem::remove(path);
  EXPECT_THROW(open_torchscript(path), Error);
}

} // namespace
} // namespace temper::model
