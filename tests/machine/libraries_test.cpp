#include "temper/machine/libraries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace temper::machine {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Libraries, OpenmpRuntimesAreToldFromLookalikes) {
  EXPECT_THAT(
      openmp_runtimes(
          {"/usr/lib/libgomp.so.1.0.0",
           "/opt/homebrew/lib/libomp.dylib",
           "/usr/lib/libompl.so.1",
           "/usr/lib/libompitrace.so",
           "/opt/intel/libiomp5.so",
           "/site-packages/torch/lib/libgomp-a34b3233.so.1"}),
      ElementsAre(
          "/usr/lib/libgomp.so.1.0.0",
          "/opt/homebrew/lib/libomp.dylib",
          "/opt/intel/libiomp5.so",
          "/site-packages/torch/lib/libgomp-a34b3233.so.1"));
}

TEST(Libraries, BlasIsNamedByTheLibraryBehindTheLink) {
  EXPECT_EQ(
      blas_name({"/usr/lib/x86_64-linux-gnu/openblas-openmp/libblas.so.3"}),
      "OpenBLAS");
  EXPECT_EQ(
      blas_name({"/usr/lib/x86_64-linux-gnu/blas/libblas.so.3.11.0"}),
      "reference BLAS");
  EXPECT_EQ(
      blas_name({"/System/Library/Frameworks/Accelerate.framework/Versions/A/"
                 "Accelerate"}),
      "Accelerate");
  EXPECT_EQ(blas_name({"/opt/mkl/lib/libmkl_rt.so.2"}), "MKL");
  EXPECT_EQ(blas_name({"/usr/lib/libc.so.6"}), "");
}

TEST(Libraries, OfThisProcessAreReal) {
  EXPECT_THAT(loaded_libraries(), Contains(HasSubstr("libc")));
  EXPECT_THAT(executable_path(), HasSubstr("temper_core_tests"));
}

} // namespace
} // namespace temper::machine
