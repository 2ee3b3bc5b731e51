#include "temper/data/loader/tune_start.h"

#include <algorithm>

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/data/loader/budget.h"
#include "temper/data/loader/ring.h"
#include "temper/data/loader/worker_pool.h"

namespace temper::data {
namespace {

// Batches made ahead at the beginning. Of small ones there are more, so that a
// worker fills several each time it is woken.
constexpr int kFirstDepth = 3;
constexpr int kFirstDepthOfSmall = 32;
constexpr std::uint64_t kBytesAhead = 1 << 20;

int first_depth(std::uint64_t batch_bytes) {
  const std::uint64_t fit =
      kBytesAhead / std::max<std::uint64_t>(batch_bytes, 1);
  return static_cast<int>(
      std::clamp<std::uint64_t>(fit, kFirstDepth, kFirstDepthOfSmall));
}

void check_range(const char* option, int value, int most) {
  if (value < 0 || value > most)
    throw Error(
        cat("[data] ", option, " = ", value, "."),
        cat("Give 1 to ", most, "; 0 leaves it to the loader."));
}

} // namespace

TuneLimits tune_limits(
    const SourceInfo& info,
    const SampleLayout& layout,
    int batch,
    const LoaderOptions& options) {
  check_range("loader.workers", options.workers, WorkerPool::kMostWorkers);
  check_range("loader.depth", options.depth, Ring::kMostDepth);
  TuneLimits limits;
  limits.fixed_workers = options.workers > 0;
  limits.fixed_depth = options.depth > 0;
  limits.most_workers =
      std::clamp(options.cores - 1, 1, WorkerPool::kMostWorkers);
  limits.most_depth = Ring::kMostDepth;
  limits.batch_bytes = layout.batch_bytes(batch) +
      static_cast<std::uint64_t>(batch) * sizeof(std::int64_t);
  limits.scratch_bytes = scratch_bytes(info, layout);
  limits.budget_bytes = options.memory_bytes;
  return limits;
}

Tuning start_single(const TuneLimits& limits, const LoaderOptions& options) {
  TuneLimits one = limits;
  one.fixed_workers = true;
  return fit_budget({1, options.depth > 0 ? options.depth : kFirstDepth}, one);
}

Tuning start_tuning(const TuneLimits& limits, const LoaderOptions& options) {
  Tuning wanted{
      std::clamp(options.cores / 2, 1, limits.most_workers),
      first_depth(limits.batch_bytes)};
  if (limits.fixed_workers) wanted.workers = options.workers;
  if (limits.fixed_depth) wanted.depth = options.depth;
  return fit_budget(wanted, limits);
}

Tuning within(const TuneLimits& limits, Tuning remembered, Tuning fixed) {
  Tuning wanted{
      std::min(remembered.workers, limits.most_workers),
      std::min(remembered.depth, limits.most_depth)};
  if (limits.fixed_workers) wanted.workers = fixed.workers;
  if (limits.fixed_depth) wanted.depth = fixed.depth;
  return fit_budget(wanted, limits);
}

} // namespace temper::data
