#include "temper/data/loader/budget.h"

#include <algorithm>

#include "temper/base/error.h"
#include "temper/base/log.h"
#include "temper/base/text.h"

namespace temper::data {

std::uint64_t scratch_bytes(
    const SourceInfo& info,
    const SampleLayout& layout) {
  constexpr std::uint64_t kSmall = std::uint64_t{64} << 10;
  constexpr std::uint64_t kUnknownImage = std::uint64_t{1} << 20;
  if (layout.input != Input::image)
    return kSmall + layout.input_bytes() + layout.target_bytes();
  const std::uint64_t before = static_cast<std::uint64_t>(info.height) *
      static_cast<std::uint64_t>(info.width) *
      static_cast<std::uint64_t>(info.channels);
  const std::uint64_t image = std::max<std::uint64_t>(
      before > 0 ? before : kUnknownImage, layout.input_count);
  return kSmall + 2 * image + image / 4;
}

Tuning fit_budget(Tuning wanted, const TuneLimits& limits) {
  Tuning fitting = wanted;
  const auto fits = [&] {
    return limits.bytes(fitting) <= limits.budget_bytes;
  };
  while (!fits() && fitting.depth > 2 && !limits.fixed_depth)
    --fitting.depth;
  while (!fits() && fitting.workers > 1 && !limits.fixed_workers)
    --fitting.workers;
  if (!fits() && fitting.depth > 1 && !limits.fixed_depth) {
    fitting.depth = 1;
    if (fits())
      log::warn(
          cat("[data] only one batch of ",
              bytes_text(limits.batch_bytes),
              " fits the loader's memory of ",
              bytes_text(limits.budget_bytes),
              ": it is not filled while the last one is used."));
  }
  if (fits()) return fitting;
  throw Error(
      cat("[data] the loader needs ",
          bytes_text(limits.bytes(fitting)),
          " (depth ",
          fitting.depth,
          " x ",
          bytes_text(limits.batch_bytes),
          " a batch + ",
          plural(fitting.workers, "worker"),
          " x ",
          bytes_text(limits.scratch_bytes),
          ") and may use ",
          bytes_text(limits.budget_bytes),
          "."),
      "Lower train.batch, loader.depth or loader.workers, or raise "
      "loader.memory.");
}

} // namespace temper::data
