#include "temper/kernels/sequence/planes.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "temper/kernels/simd/target.h"
#include "temper/kernels/simd/threads.h"

namespace temper::kernels {
namespace {

void expect_transposed(
    std::int64_t count,
    std::int64_t rows,
    std::int64_t columns) {
  SCOPED_TRACE(testing::PrintToString(std::vector{count, rows, columns}));
  const std::int64_t size = count * rows * columns;
  std::vector<float> from(static_cast<std::size_t>(size));
  std::iota(from.begin(), from.end(), 1.0F);
  std::vector<float> to(from.size(), -1.0F);
  transpose_each(count, rows, columns, from.data(), to.data());
  const float* read = from.data();
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < count; ++i)
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t c = 0; c < columns; ++c)
        wrong += to[static_cast<std::size_t>((i * columns + c) * rows + r)] !=
            *read++;
  EXPECT_EQ(wrong, 0);
}

TEST(Planes, EveryMatrixIsTransposedOnEveryVectorUnit) {
  set_thread_count([] { return 3; });
  for (const Target target : runnable_targets()) {
    SCOPED_TRACE(name_of(target));
    choose_target(target);
    for (const std::int64_t rows : {1, 3, 16, 49, 100})
      for (const std::int64_t columns : {1, 7, 8, 16, 32, 33})
        for (const std::int64_t count : {1, 5, 90})
          expect_transposed(count, rows, columns);
    expect_transposed(3, 5000, 32); // several chunks a matrix
    expect_transposed(2, 40, 3000);
    expect_transposed(0, 4, 4);
  }
  choose_fastest_target();
  set_thread_count(nullptr);
}

} // namespace
} // namespace temper::kernels
