#include "temper/kernels/fma_peak.h"

#include <algorithm>
#include <chrono>

// Highway compiles this file once for every vector unit it knows and picks
// the best one at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "temper/kernels/fma_peak.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace temper::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr int kChains = 12;

// Twelve independent chains hide the latency of a fused multiply-add (4
// cycles, two a cycle) on every core we know. Returns their sum, so that the
// loop is not optimised away.
float multiply_add(int rounds) {
  const hn::ScalableTag<float> d;
  const auto scale = hn::Set(d, 0.999F);
  const auto shift = hn::Set(d, 0.001F);
  // All different: the compiler would compute equal chains only once.
  auto a0 = hn::Iota(d, 0), a1 = hn::Iota(d, 1), a2 = hn::Iota(d, 2);
  auto a3 = hn::Iota(d, 3), a4 = hn::Iota(d, 4), a5 = hn::Iota(d, 5);
  auto b0 = hn::Iota(d, 6), b1 = hn::Iota(d, 7), b2 = hn::Iota(d, 8);
  auto b3 = hn::Iota(d, 9), b4 = hn::Iota(d, 10), b5 = hn::Iota(d, 11);
  for (int i = 0; i < rounds; ++i) {
    a0 = hn::MulAdd(a0, scale, shift);
    a1 = hn::MulAdd(a1, scale, shift);
    a2 = hn::MulAdd(a2, scale, shift);
    a3 = hn::MulAdd(a3, scale, shift);
    a4 = hn::MulAdd(a4, scale, shift);
    a5 = hn::MulAdd(a5, scale, shift);
    b0 = hn::MulAdd(b0, scale, shift);
    b1 = hn::MulAdd(b1, scale, shift);
    b2 = hn::MulAdd(b2, scale, shift);
    b3 = hn::MulAdd(b3, scale, shift);
    b4 = hn::MulAdd(b4, scale, shift);
    b5 = hn::MulAdd(b5, scale, shift);
  }
  const auto a = hn::Add(hn::Add(a0, a1), hn::Add(a2, a3));
  const auto b = hn::Add(hn::Add(b0, b1), hn::Add(b2, b3));
  const auto c = hn::Add(hn::Add(a4, a5), hn::Add(b4, b5));
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(a, b), c)));
}

double flops_per_round() {
  const hn::ScalableTag<float> d;
  return 2.0 * kChains * static_cast<double>(hn::Lanes(d));
}

const char* target_name() {
  return hwy::TargetName(HWY_TARGET);
}

} // namespace HWY_NAMESPACE
} // namespace temper::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace temper::kernels {

HWY_EXPORT(multiply_add);
HWY_EXPORT(flops_per_round);
HWY_EXPORT(target_name);

FmaPeak fma_peak(double seconds) {
  using Clock = std::chrono::steady_clock;
  constexpr int kRounds = 100'000; // a fraction of a millisecond
  volatile float keep = 0;
  const double flops = kRounds * HWY_DYNAMIC_DISPATCH(flops_per_round)();
  FmaPeak peak{0, HWY_DYNAMIC_DISPATCH(target_name)()};
  const auto stop = Clock::now() + std::chrono::duration<double>(seconds);
  do {
    const auto begin = Clock::now();
    keep = HWY_DYNAMIC_DISPATCH(multiply_add)(kRounds);
    const std::chrono::duration<double> took = Clock::now() - begin;
    peak.gflops = std::max(peak.gflops, flops / took.count() / 1e9);
  } while (Clock::now() < stop);
  static_cast<void>(keep);
  return peak;
}

} // namespace temper::kernels
#endif
