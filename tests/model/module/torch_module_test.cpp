#include <gtest/gtest.h>

#include "temper/model/module/module.h"

namespace temper::model {
namespace {

TEST(Module, AModelIsOpaqueUnlessItSaysOtherwise) {
  struct Opaque : Module {
    at::Tensor forward(const std::vector<at::Tensor>& inputs) override {
      return inputs.at(0);
    }
    std::vector<NamedTensor> parameters() const override {
      return {};
    }
    std::vector<NamedTensor> buffers() const override {
      return {};
    }
    void set_training(bool) override {}
    bool training() const override {
      return false;
    }
    void to(const at::Device&) override {}
    void to(at::ScalarType) override {}
  };
  EXPECT_EQ(Opaque().graph(), nullptr);
}

} // namespace
} // namespace temper::model
