// Models that nobody looked into may put another tensor in a buffer's place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/jit/api/module.h>

#include <limits>

#include "temper/base/text.h"
#include "temper/model/module/opaque.h"
#include "temper/train/optimizer/buffer_backup.h"
#include "temper/train/optimizer/retry_update.h"
#include "tests/complaint.h"
#include "tests/temp_folder.h"
#include "tests/train/torch/engine_samples.h"

namespace temper::train {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using tests::complaint;

// A linear layer; `remembers` is what forward() does with its buffer `seen`.
std::unique_ptr<model::Module> script(const std::string& remembers) {
  const tests::TempFolder folder;
  torch::jit::Module made("net");
  at::manual_seed(3);
  made.register_parameter("weight", at::randn({6, 3}).requires_grad_(), false);
  made.register_buffer("other", at::zeros({3}));
  made.register_buffer("seen", at::zeros({4}));
  made.define(
      cat("def forward(self, x):\n    ",
          remembers,
          "\n    return torch.mm(x, self.weight)\n"));
  const auto file = folder.path() / "net.pt";
  made.save(file.string());
  return model::open_torchscript(file);
}

constexpr const char* kGrows = "self.seen = torch.cat([self.seen, self.seen])";

at::Tensor seen(const model::Module& net) {
  for (const model::NamedTensor& each : net.buffers())
    if (each.name == "seen") return each.tensor;
  return {};
}

at::Tensor input() {
  return at::ones({2, 6});
}

TEST(BufferBackup, ABufferThatWasReplacedByOneOfItsFormIsPutBack) {
  const auto net = script("self.seen = self.seen + 1");
  BufferBackup undo(*net);
  for (int i = 0; i < 3; ++i) {
    undo.begin({});
    net->forward({input()});
  }
  undo.back();
  EXPECT_TRUE(at::equal(seen(*net), at::full({4}, 2)));
}

TEST(BufferBackup, ABufferThatGrewIsKeptAnew) {
  const auto net = script(kGrows);
  BufferBackup undo(*net);
  for (int i = 0; i < 12; ++i) {
    undo.begin({});
    net->forward({input()});
  }
  const at::Tensor grown = seen(*net);
  ASSERT_EQ(grown.numel(), 4 << 12);
  undo.begin({});
  grown.fill_(7);
  undo.back();
  EXPECT_TRUE(at::equal(seen(*net), at::zeros({4 << 12})));
}

TEST(BufferBackup, ABufferThatChangedItsFormInTheStepIsRefused) {
  for (const char* remembers :
       {kGrows,
        "self.seen = self.seen[1:]",
        "self.seen = self.seen.double()",
        "self.seen = self.seen.view([2, 2])"}) {
    const auto net = script(remembers);
    BufferBackup undo(*net);
    undo.begin({});
    net->forward({input()});
    EXPECT_THROW(undo.back(), HalfDone) << remembers;
  }
}

TEST(BufferBackup, WhatADeviceHasNotToldYetNeedsTheSameForm) {
  const auto net = script(kGrows);
  BufferBackup undo(*net);
  undo.begin({});
  net->forward({input()});
  EXPECT_THAT(
      complaint([&] { undo.begin(at::ones({}, at::kBool)); }),
      HasSubstr("got another size, type or place"));
}

TEST(UndoOfAnEngine, AFailedStepThatCannotBeUndoneIsNeverSaved) {
  config::Config config = sgd();
  const Sample sample = table(config);
  const auto engine =
      sample.engine(make_task(config, sample.info, script(kGrows)));
  Samples samples = rows(5);
  for (int i = 0; i < 3; ++i)
    EXPECT_TRUE(engine->step(samples.batch, order(i)));
  samples.inputs.fill_(std::numeric_limits<float>::quiet_NaN());
  EXPECT_THAT(
      complaint([&] { engine->step(samples.batch, order(3)); }),
      AllOf(HasSubstr("cannot be put back"), HasSubstr("the loss became nan")));
  EXPECT_THROW(engine->capture(), Error);
}

} // namespace
} // namespace temper::train
