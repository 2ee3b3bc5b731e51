// What is said to oneDNN before it computes.
#include <ATen/ATen.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

#include "temper/model/executor/executor.h"
#include "temper/model/zoo/zoo.h"
#include "tests/half_precision.h"

namespace temper::model {
namespace {

// On a processor with AMX this ended the process.
TEST(Onednn, ConvolutionsInHalfPrecisionComeBack) {
  ZooOptions zoo;
  zoo.name = "cnn";
  zoo.image_size = 8;
  zoo.channels = 3;
  zoo.classes = 2;
  const GraphModule module(build(zoo)); // the first to touch oneDNN
  if (tests::bf16_is_kept_from_onednn()) GTEST_SKIP() << tests::kNoBf16;
  const auto half = at::TensorOptions(at::kBFloat16);
  const at::Tensor input = at::ones({16, 16, 16, 16}, half);
  const at::Tensor filters = at::ones({16, 16, 3, 3}, half);
  const at::Tensor result = at::conv2d(input, filters, {}, 1, 1);
  EXPECT_EQ(result[0][0][8][8].item<float>(), 16 * 9);
}

TEST(Onednn, VersionTwoIsKeptFromTiles) {
  using GetVersion = const int* (*)(); // the first of its fields
  using GetIsa = int (*)();
  const auto version =
      reinterpret_cast<GetVersion>(::dlsym(RTLD_DEFAULT, "dnnl_version"));
  const auto isa = reinterpret_cast<GetIsa>(
      ::dlsym(RTLD_DEFAULT, "dnnl_get_effective_cpu_isa"));
  if (version == nullptr || isa == nullptr || *version() != 2)
    GTEST_SKIP() << "there is no oneDNN 2 to ask.";
  ZooOptions zoo;
  zoo.name = "mlp";
  zoo.image_size = 1;
  zoo.channels = 6;
  zoo.classes = 2;
  const GraphModule module(build(zoo));
  constexpr int kTiles = 0x300;
  EXPECT_EQ(isa() & kTiles, 0);
}

} // namespace
} // namespace temper::model
