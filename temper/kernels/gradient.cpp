// Sixteen sums side by side, whatever the width of the vectors: number i goes
// to the sum of i % 16, so the order of additions is the same everywhere.
#include "temper/kernels/gradient.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "temper/kernels/gradient.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace temper::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr std::size_t kSums = 16;
constexpr std::size_t kRowsOfSums = 8; // added before the sums are put back

double sum_of_squares(std::size_t count, const float* HWY_RESTRICT numbers) {
  const hn::CappedTag<double, kSums> wide;
  const hn::Rebind<float, decltype(wide)> narrow;
  const std::size_t lanes = hn::Lanes(wide);
  double sums[kSums] = {};
  std::size_t i = 0;
  for (; i + kSums * kRowsOfSums <= count; i += kSums * kRowsOfSums)
    for (std::size_t lane = 0; lane < kSums; lane += lanes) {
      auto sum = hn::LoadU(wide, sums + lane);
      const float* from = numbers + i + lane;
      for (std::size_t row = 0; row < kRowsOfSums; ++row) {
        const auto number =
            hn::PromoteTo(wide, hn::LoadU(narrow, from + row * kSums));
        // Exact before it is added: fused or not, the sum is the same.
        sum = hn::MulAdd(number, number, sum);
      }
      hn::StoreU(sum, wide, sums + lane);
    }
  for (; i < count; ++i) {
    const auto number = static_cast<double>(numbers[i]);
    sums[i % kSums] += number * number;
  }
  double all = 0;
  for (const double sum : sums)
    all += sum;
  return all;
}

template <class D>
HWY_INLINE void
clip_at(D d, const ClipRule& rule, float* HWY_RESTRICT numbers) {
  auto number = hn::Mul(hn::LoadU(d, numbers), hn::Set(d, rule.factor));
  if (rule.limit > 0)
    number = hn::Min(
        hn::Max(number, hn::Set(d, -rule.limit)), hn::Set(d, rule.limit));
  hn::StoreU(number, d, numbers);
}

void clip(
    const ClipRule& rule,
    std::size_t count,
    float* HWY_RESTRICT numbers) {
  const hn::ScalableTag<float> wide;
  const std::size_t lanes = hn::Lanes(wide);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    clip_at(wide, rule, numbers + i);
  const hn::CappedTag<float, 1> single;
  for (; i < count; ++i)
    clip_at(single, rule, numbers + i);
}

} // namespace HWY_NAMESPACE
} // namespace temper::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace temper::kernels {

HWY_EXPORT(sum_of_squares);
HWY_EXPORT(clip);

double sum_of_squares(std::size_t count, const float* numbers) {
  return HWY_DYNAMIC_DISPATCH(sum_of_squares)(count, numbers);
}

void clip(const ClipRule& rule, std::size_t count, float* numbers) {
  HWY_DYNAMIC_DISPATCH(clip)(rule, count, numbers);
}

} // namespace temper::kernels
#endif
