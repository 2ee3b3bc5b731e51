#include "temper/graph/pt2/pt2_trace.h"

#include <gtest/gtest.h>

namespace temper::graph::pt2 {
namespace {

TEST(Pt2Trace, TheInnermostModuleIsANodesModule) {
  EXPECT_EQ(
      module_of("L__self__,,net.Net;L__self__b,b,torch.nn.Sequential;"
                "L__self__b.0,b.0,torch.nn.modules.conv.Conv2d"),
      "b.0");
  EXPECT_EQ(module_of("L__self__,,net.Net"), "");
  EXPECT_EQ(module_of("k,a.b,net.Typed[int, (str, int)]"), "a.b");
}

TEST(Pt2Trace, WhatIsNoStackIsNoModule) {
  EXPECT_EQ(module_of(""), "");
  EXPECT_EQ(module_of("a,b"), "");
  EXPECT_EQ(module_of("a,b\n,c"), "");
  EXPECT_EQ(
      module_of("_empty_nn_module_stack_from_metadata_hook,"
                "_empty_nn_module_stack_from_metadata_hook,"
                "_empty_nn_module_stack_from_metadata_hook"),
      "");
}

TEST(Pt2Trace, TheSourceIsTheUsersInnermostLine) {
  EXPECT_EQ(
      source_of("File \"/home/me/net.py\", line 20, in forward\n"
                "    return self.block(x)\n"
                "  File \"/home/me/block.py\", line 7, in forward\n"
                "    return F.relu(self.conv(x))\n"
                "  File \"/usr/lib/python3/dist-packages/torch/nn/modules/"
                "conv.py\", line 565, in forward\n"
                "    return self._conv_forward(input, self.weight)"),
      "block.py:7");
}

TEST(Pt2Trace, TorchvisionsLineStandsInWhereTheUserHasNone) {
  const char* trace =
      "File \"torchvision/models/mobilenetv2.py\", line 174, in forward\n"
      "    return self._forward_impl(x)\n"
      "  File \"torch/nn/modules/container.py\", line 259, in forward\n";
  EXPECT_EQ(source_of(trace), "mobilenetv2.py:174");
  EXPECT_EQ(
      source_of(std::string("File \"me.py\", line 3, in forward\n  ") + trace),
      "me.py:3");
}

TEST(Pt2Trace, APathThatOnlySoundsLikePyTorchIsTheUsers) {
  EXPECT_EQ(
      source_of("File \"/home/torch/net.py\", line 5, in forward"), "net.py:5");
  EXPECT_EQ(
      source_of("File \"/x/torchnets.py\", line 5, in f"), "torchnets.py:5");
}

TEST(Pt2Trace, WhatIsNoTraceIsNoSource) {
  EXPECT_EQ(source_of(""), "");
  EXPECT_EQ(source_of("File \"net.py\""), "");
  EXPECT_EQ(source_of("File \"net.py\", line x, in f"), "");
  EXPECT_EQ(source_of("File \"net\x1b[31m.py\", line 1, in f"), "");
  EXPECT_EQ(source_of("File \"<eval_with_key>.1\", line 9, in forward"), "");
  EXPECT_EQ(source_of("File \"torch/fx/passes.py\", line 24, in insert"), "");
}

TEST(Pt2Trace, WhatIsMadeUpReadsTheSame) {
  for (const char* module : {"", "fc", "layer1.0.conv1"})
    EXPECT_EQ(module_of(module_stack(module)), module);
  EXPECT_EQ(source_of(stack_trace("net.py:27")), "net.py:27");
  EXPECT_EQ(stack_trace("no line"), "");
}

} // namespace
} // namespace temper::graph::pt2
