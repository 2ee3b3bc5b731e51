#include "temper/libtorch/messages.h"

#include <gtest/gtest.h>

namespace temper::libtorch {
namespace {

TEST(Messages, TheFirstLineSaysIt) {
  EXPECT_EQ(first_line("it broke.\nException raised from ..."), "it broke");
  EXPECT_EQ(first_line("it broke"), "it broke");
  EXPECT_EQ(first_line(""), "");
}

// As LibTorch words them.
TEST(Messages, TroubleIsKnownByItsWords) {
  EXPECT_EQ(
      trouble_of("MPS backend out of memory (MPS allocated: 1 GB)"),
      Trouble::memory);
  EXPECT_EQ(
      trouble_of("[enforce fail at alloc_cpu.cpp:75] err == 0. "
                 "DefaultCPUAllocator: can't allocate memory"),
      Trouble::memory);
  EXPECT_EQ(
      trouble_of("expected target dtype to be Long or Byte, but got Float"),
      Trouble::types);
  EXPECT_EQ(
      trouble_of("Expected all tensors to be on the same device, but found at "
                 "least two devices, mps:0 and cpu!"),
      Trouble::devices);
  EXPECT_EQ(
      trouble_of("Placeholder storage has not been allocated on MPS device!"),
      Trouble::devices);
  EXPECT_EQ(
      trouble_of("Cannot convert a MPS Tensor to float64 dtype as the MPS "
                 "framework doesn't support float64."),
      Trouble::types);
  EXPECT_EQ(
      trouble_of("expected scalar type Long but found Float"), Trouble::types);
  EXPECT_EQ(
      trouble_of("expected m1 and m2 to have the same dtype, but got: float != "
                 "double"),
      Trouble::types);
  EXPECT_EQ(
      trouble_of("put_ does not have a deterministic implementation, but you "
                 "set 'torch.use_deterministic_algorithms(True)'."),
      Trouble::nondeterministic);
  EXPECT_EQ(
      trouble_of("Expected more than 1 value per channel when training, got "
                 "input size [1, 8, 1, 1]"),
      Trouble::one_value);
  EXPECT_EQ(
      trouble_of("shape '[7, 7]' is invalid for input of size 24"),
      Trouble::other);
}

} // namespace
} // namespace temper::libtorch
