// The machine's own limits, for `make bench`: how many float32 operations and
// bytes it moves a second, with one thread and with as many as are asked for.
// Prints one JSON line.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "temper/kernels/fma_peak.h"
#include "temper/kernels/simd/target.h"

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// Calls work(thread) on that many threads at once.
template <class Work>
void on_threads(int threads, const Work& work) {
  std::vector<std::thread> all;
  for (int i = 1; i < threads; ++i)
    all.emplace_back([&work, i] { work(i); });
  work(0);
  for (auto& thread : all)
    thread.join();
}

double peak_gflops(int threads) {
  std::vector<double> each(static_cast<std::size_t>(threads));
  on_threads(threads, [&](int i) {
    each[static_cast<std::size_t>(i)] = temper::kernels::fma_peak(0.4).gflops;
  });
  double sum = 0;
  for (const double one : each)
    sum += one;
  return sum;
}

// STREAM's triad a = b + s * c on arrays far larger than any cache: the best
// of several passes, three arrays' bytes each.
double triad_gbytes(int threads) {
  constexpr std::size_t kElements = std::size_t{24} << 20; // 96 MB an array
  std::vector<float> a(kElements);
  std::vector<float> b(kElements, 1.0F);
  std::vector<float> c(kElements, 2.0F);
  double best = 0;
  for (int pass = 0; pass < 8; ++pass) {
    const auto begin = Clock::now();
    on_threads(threads, [&](int i) {
      const auto part = kElements / static_cast<std::size_t>(threads);
      const auto from = part * static_cast<std::size_t>(i);
      float* out = a.data() + from;
      const float* left = b.data() + from;
      const float* right = c.data() + from;
      for (std::size_t k = 0; k < part; ++k)
        out[k] = left[k] + 3.0F * right[k];
    });
    const double bytes = 3.0 * sizeof(float) * kElements;
    best = std::max(best, bytes / seconds_since(begin) / 1e9);
    b[static_cast<std::size_t>(pass)] = a[0]; // what was computed is used
  }
  return best;
}

} // namespace

int main(int count, char** words) {
  const int threads = count > 1 ? std::max(1, std::atoi(words[1])) : 1;
  temper::kernels::target(); // limits vectors as TEMPER_VECTORS says
  std::printf(
      "{\"threads\": %d, \"gflops_1\": %.1f, \"gflops\": %.1f, "
      "\"gbytes_1\": %.2f, \"gbytes\": %.2f, \"target\": \"%s\"}\n",
      threads,
      peak_gflops(1),
      peak_gflops(threads),
      triad_gbytes(1),
      triad_gbytes(threads),
      temper::kernels::fma_peak(0.05).target.c_str());
  return 0;
}
