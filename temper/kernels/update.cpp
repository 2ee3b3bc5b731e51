// Every function is a loop over whole vectors and the rest of them by the same
// steps on one lane: CappedTag<float, 1> gives the very operations, so there is
// no second formula that could round otherwise.
#include "temper/kernels/update.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "temper/kernels/update.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace temper::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// step(tag, i): the numbers from i on, as many as the tag has lanes.
template <class Step>
HWY_INLINE void over(std::size_t count, const Step& step) {
  const hn::ScalableTag<float> wide;
  const std::size_t lanes = hn::Lanes(wide);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    step(wide, i);
  const hn::CappedTag<float, 1> single;
  for (; i < count; ++i)
    step(single, i);
}

template <class D, class V>
HWY_INLINE V scaled(D d, V values, float by) {
  return hn::Mul(values, hn::Set(d, by));
}

template <bool kL2, bool kMomentum, bool kNesterov>
void sgd_as(
    const SgdRule& rule,
    std::size_t count,
    const float* HWY_RESTRICT gradient,
    float* HWY_RESTRICT weight,
    float* HWY_RESTRICT momentum) {
  const float rate = rule.rate;
  const float l2 = rule.l2;
  const float kept = rule.momentum;
  over(count, [=](auto d, std::size_t i) HWY_ATTR {
    auto way = hn::LoadU(d, gradient + i);
    const auto old = hn::LoadU(d, weight + i);
    if constexpr (kL2) way = hn::Add(way, scaled(d, old, l2));
    if constexpr (kMomentum) {
      const auto moved =
          hn::Add(scaled(d, hn::LoadU(d, momentum + i), kept), way);
      hn::StoreU(moved, d, momentum + i);
      if constexpr (kNesterov)
        way = hn::Add(way, scaled(d, moved, kept));
      else
        way = moved;
    }
    hn::StoreU(hn::Sub(old, scaled(d, way, rate)), d, weight + i);
  });
}

void sgd(
    const SgdRule& rule,
    std::size_t count,
    const float* gradient,
    float* weight,
    float* momentum) {
  const auto run = [&](auto body) {
    body(rule, count, gradient, weight, momentum);
  };
  const bool l2 = rule.l2 != 0;
  if (momentum == nullptr)
    run(l2 ? sgd_as<true, false, false> : sgd_as<false, false, false>);
  else if (rule.nesterov)
    run(l2 ? sgd_as<true, true, true> : sgd_as<false, true, true>);
  else
    run(l2 ? sgd_as<true, true, false> : sgd_as<false, true, false>);
}

// A factor of 1 and a term of 0 change no number, so AdamW's decay and Adam's
// L2 share the loop; memory is what it waits for.
void adam(
    const AdamRule& rule,
    std::size_t count,
    const float* HWY_RESTRICT gradient,
    float* HWY_RESTRICT weight,
    float* HWY_RESTRICT first,
    float* HWY_RESTRICT second) {
  const AdamRule r = rule;
  over(count, [=](auto d, std::size_t i) HWY_ATTR {
    const auto old = scaled(d, hn::LoadU(d, weight + i), r.keep);
    const auto way = hn::Add(hn::LoadU(d, gradient + i), scaled(d, old, r.l2));
    const auto mean = hn::Add(
        scaled(d, hn::LoadU(d, first + i), r.beta1), scaled(d, way, r.rest1));
    const auto square = hn::Add(
        scaled(d, hn::LoadU(d, second + i), r.beta2),
        hn::Mul(scaled(d, way, r.rest2), way));
    hn::StoreU(mean, d, first + i);
    hn::StoreU(square, d, second + i);
    const auto spread = hn::Add(
        hn::Div(hn::Sqrt(square), hn::Set(d, r.correction)), hn::Set(d, r.eps));
    hn::StoreU(
        hn::Sub(old, hn::Div(scaled(d, mean, r.rate), spread)), d, weight + i);
  });
}

void lion(
    const LionRule& rule,
    std::size_t count,
    const float* HWY_RESTRICT gradient,
    float* HWY_RESTRICT weight,
    float* HWY_RESTRICT average) {
  const LionRule r = rule;
  over(count, [=](auto d, std::size_t i) HWY_ATTR {
    const auto zero = hn::Zero(d);
    const auto slope = hn::LoadU(d, gradient + i);
    const auto mean = hn::LoadU(d, average + i);
    const auto way =
        hn::Add(scaled(d, mean, r.beta1), scaled(d, slope, r.rest1));
    const auto rate = hn::Set(d, r.rate);
    const auto up = hn::IfThenElseZero(hn::Gt(way, zero), rate);
    const auto down = hn::IfThenElseZero(hn::Lt(way, zero), rate);
    const auto old = scaled(d, hn::LoadU(d, weight + i), r.keep);
    hn::StoreU(hn::Sub(old, hn::Sub(up, down)), d, weight + i);
    hn::StoreU(
        hn::Add(scaled(d, mean, r.beta2), scaled(d, slope, r.rest2)),
        d,
        average + i);
  });
}

void approach(
    float by,
    std::size_t count,
    const float* HWY_RESTRICT goal,
    float* HWY_RESTRICT average) {
  const bool near = by < 0.5F;
  const float rest = 1 - by;
  over(count, [=](auto d, std::size_t i) HWY_ATTR {
    const auto old = hn::LoadU(d, average + i);
    const auto end = hn::LoadU(d, goal + i);
    const auto way = hn::Sub(end, old);
    hn::StoreU(
        near ? hn::Add(old, scaled(d, way, by))
             : hn::Sub(end, scaled(d, way, rest)),
        d,
        average + i);
  });
}

} // namespace HWY_NAMESPACE
} // namespace temper::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace temper::kernels {

HWY_EXPORT(sgd);
HWY_EXPORT(adam);
HWY_EXPORT(lion);
HWY_EXPORT(approach);

void sgd(
    const SgdRule& rule,
    std::size_t count,
    const float* gradient,
    float* weight,
    float* momentum) {
  HWY_DYNAMIC_DISPATCH(sgd)(rule, count, gradient, weight, momentum);
}

void adam(
    const AdamRule& rule,
    std::size_t count,
    const float* gradient,
    float* weight,
    float* first,
    float* second) {
  HWY_DYNAMIC_DISPATCH(adam)(rule, count, gradient, weight, first, second);
}

void lion(
    const LionRule& rule,
    std::size_t count,
    const float* gradient,
    float* weight,
    float* average) {
  HWY_DYNAMIC_DISPATCH(lion)(rule, count, gradient, weight, average);
}

void approach(float by, std::size_t count, const float* goal, float* average) {
  HWY_DYNAMIC_DISPATCH(approach)(by, count, goal, average);
}

} // namespace temper::kernels
#endif
