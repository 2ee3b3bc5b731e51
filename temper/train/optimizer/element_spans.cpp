#include "temper/train/optimizer/element_spans.h"

#include <algorithm>

#include "temper/kernels/simd/threads.h"

namespace temper::train {
namespace {

// With its moments and gradient such a run fits a core's own cache.
constexpr std::size_t kMostInRun = 16384;
// Fewer than that are not worth waking a thread for.
constexpr std::size_t kWorthAThread = 65536;

} // namespace

bool is_plain(const at::Tensor& tensor) {
  return tensor.device().is_cpu() && tensor.layout() == at::kStrided &&
      tensor.scalar_type() == at::kFloat &&
      tensor.is_non_overlapping_and_dense();
}

bool is_laid_out_as(const at::Tensor& tensor, const at::Tensor& other) {
  if (!is_plain(tensor) || tensor.sizes() != other.sizes()) return false;
  for (std::int64_t i = 0; i < tensor.dim(); ++i)
    if (tensor.size(i) > 1 && tensor.stride(i) != other.stride(i)) return false;
  return true;
}

void ElementSpans::add(std::size_t tensor, const at::Tensor& sized_as) {
  const auto all = static_cast<std::size_t>(sized_as.numel());
  for (std::size_t begin = 0; begin < all; begin += kMostInRun)
    runs_.push_back(
        {tensor, begin, std::min(kMostInRun, all - begin), runs_.size()});
  numbers_ += all;
}

void ElementSpans::clear() {
  runs_.clear();
  numbers_ = 0;
}

void ElementSpans::each(const std::function<void(const Span&)>& work) const {
  const auto count = static_cast<std::int64_t>(runs_.size());
  if (count == 0) return;
  const auto chunks =
      static_cast<std::int64_t>((numbers_ + kWorthAThread - 1) / kWorthAThread);
  kernels::for_each_chunk(chunks, [&](std::int64_t chunk) {
    const kernels::ChunkRange range =
        kernels::chunk_range(count, 1, chunks, chunk);
    for (std::int64_t i = range.begin; i < range.end; ++i)
      work(runs_[static_cast<std::size_t>(i)]);
  });
}

} // namespace temper::train
