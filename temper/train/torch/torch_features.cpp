#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <torch/version.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <optional>

#include "temper/base/digest/hash.h"
#include "temper/base/text.h"
#include "temper/model/executor/executor.h"
#include "temper/train/engine/features.h"
#include "temper/train/torch/engine_batch.h"

namespace temper::train {
namespace {

// A sample of the data's shape, the same at every call: numbers of ordinary
// size, or tokens.
at::Tensor some_sample(const RunData& data) {
  std::vector<std::int64_t> sizes = data.input_shape;
  sizes.insert(sizes.begin(), 1);
  const std::int64_t count = graph::element_count(sizes);
  if (data.info.input == data::Input::tokens)
    return at::arange(count, at::kLong)
        .remainder(std::max(data.info.vocabulary, 1))
        .reshape(sizes);
  return at::arange(count, at::kFloat).sin().reshape(sizes);
}

// Every forward pass has the same shape, so that neighbours do not matter. The
// place in the batch still may: matrix products end with the rows that do not
// fill a vector unit's block, and some (OpenBLAS on AVX2) add those up in
// another order. So it is tried, once, with a batch of one sample's copies:
// where their features differ, the batch is padded to whole blocks, and where
// that does not help either, samples pass one by one.
class TorchExtractor final : public FeatureExtractor {
 public:
  explicit TorchExtractor(const ExtractorRequest& request)
      : module_(request.prefix),
        shape_(request.shape),
        batch_(request.batch),
        values_(graph::element_count(request.shape)),
        plan_(plan_batches(request.device, request.layout, request.data)),
        mover_(plan_),
        sample_(some_sample(request.data).to(plan_.device)) {
    module_.set_training(false);
    module_.to(plan_.device);
  }

  const std::vector<std::int64_t>& shape() const override {
    return shape_;
  }

  void compute(const data::HostBatch& batch, float* features) override {
    if (!passes_) passes_ = find_passes();
    const at::NoGradGuard no_grad;
    const at::Tensor inputs = mover_.moved(on_host(batch, plan_)).inputs;
    for (std::int64_t begin = 0; begin < batch.size;
         begin += passes_->samples) {
      const auto count =
          std::min<std::int64_t>(passes_->samples, batch.size - begin);
      const at::Tensor result =
          pass(inputs.narrow(0, begin, count), passes_->rows)
              .narrow(0, 0, count)
              .contiguous();
      std::memcpy(
          features + begin * values_,
          result.data_ptr<float>(),
          static_cast<std::size_t>(count * values_) * sizeof(float));
    }
  }

  // Another processor, library or number of threads shows in the bits of one
  // sample's features, or in the number of rows that go together.
  std::string place() const override {
    if (!own_bits_) own_bits_ = bits_of_a_sample();
    return cat(
        plan_.device.str(),
        ", LibTorch ",
        TORCH_VERSION,
        ", batches of ",
        batch_,
        ", ",
        at::get_num_threads(),
        " threads, a sample's bits ",
        *own_bits_);
  }

 private:
  struct Passes {
    std::int64_t rows; // of a forward pass
    std::int64_t samples; // of them; the others are padding
  };

  Passes find_passes() const {
    constexpr std::int64_t kBlock = 16; // rows that vector units take at once
    constexpr std::int64_t kMany = 12; // of a block: little is padding
    if (is_alike_everywhere(batch_)) return {batch_, batch_};
    const std::int64_t whole = (batch_ + kBlock - 1) / kBlock * kBlock;
    if (whole > batch_ && batch_ >= kMany && is_alike_everywhere(whole))
      return {whole, batch_};
    return {fewest_rows(), 1};
  }

  // Whether every row of a batch of one sample's copies has the same bits.
  bool is_alike_everywhere(std::int64_t rows) const {
    std::vector<std::int64_t> sizes = sample_.sizes().vec();
    sizes[0] = rows;
    const at::Tensor result =
        pass(sample_.expand(sizes), rows).reshape({rows, -1}).contiguous();
    const auto* first = result.data_ptr<float>();
    for (std::int64_t i = 1; i < rows; ++i)
      if (std::memcmp(
              first,
              first + i * values_,
              static_cast<std::size_t>(values_) * sizeof(float)) != 0)
        return false;
    return true;
  }

  // An exported graph may refuse a batch of one.
  std::int64_t fewest_rows() const try {
    pass(sample_, 1);
    return 1;
  } catch (const std::exception&) {
    return 2;
  }

  std::uint64_t bits_of_a_sample() const {
    const at::Tensor result =
        pass(sample_, fewest_rows()).narrow(0, 0, 1).contiguous();
    return hash64(result.data_ptr<float>(), result.nbytes());
  }

  // On the CPU, as floats.
  at::Tensor pass(const at::Tensor& part, std::int64_t rows) const {
    const at::NoGradGuard no_grad;
    return module_.forward({filled(part, rows)}).to(at::kCPU);
  }

  // A whole batch of it. On a CPU convolutions are quicker with the channels
  // last; elsewhere the order stays.
  at::Tensor filled(const at::Tensor& part, std::int64_t rows) const {
    const bool last = plan_.device.is_cpu() && plan_.images && part.dim() == 4;
    const auto format =
        last ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Contiguous;
    if (part.size(0) == rows) return part.contiguous(format);
    std::vector<std::int64_t> sizes = part.sizes().vec();
    sizes[0] = rows;
    at::Tensor whole = at::zeros(sizes, part.options());
    whole.narrow(0, 0, part.size(0)).copy_(part);
    return whole.contiguous(format);
  }

  mutable model::GraphModule module_;
  std::vector<std::int64_t> shape_;
  std::int64_t batch_;
  std::int64_t values_;
  BatchTransfer plan_;
  BatchMover mover_;
  at::Tensor sample_;
  std::optional<Passes> passes_;
  mutable std::optional<std::uint64_t> own_bits_;
};

} // namespace

std::unique_ptr<FeatureExtractor> make_extractor(
    const ExtractorRequest& request) {
  return std::make_unique<TorchExtractor>(request);
}

} // namespace temper::train
