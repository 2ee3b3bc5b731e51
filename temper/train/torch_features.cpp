#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <torch/version.h>

#include <cstring>

#include "temper/base/text.h"
#include "temper/model/executor.h"
#include "temper/train/engine_batch.h"
#include "temper/train/features.h"

namespace temper::train {
namespace {

class TorchExtractor final : public FeatureExtractor {
 public:
  explicit TorchExtractor(const ExtractorRequest& request)
      : module_(request.prefix),
        shape_(request.shape),
        batch_(request.batch),
        values_(graph::element_count(request.shape)),
        plan_(plan_batches(request.device, request.layout, request.data)),
        mover_(plan_) {
    module_.set_training(false);
    module_.to(plan_.device);
  }

  const std::vector<std::int64_t>& shape() const override {
    return shape_;
  }

  void compute(const data::Batch& batch, float* features) override {
    const at::NoGradGuard no_grad;
    const at::Tensor inputs = mover_.moved(on_host(batch, plan_)).inputs;
    for (std::int64_t begin = 0; begin < batch.size; begin += batch_) {
      const auto count = std::min<std::int64_t>(batch_, batch.size - begin);
      const at::Tensor result =
          module_.forward({filled(inputs.narrow(0, begin, count))})
              .narrow(0, 0, count)
              .to(at::kCPU)
              .contiguous();
      std::memcpy(
          features + begin * values_,
          result.data_ptr<float>(),
          static_cast<std::size_t>(count * values_) * sizeof(float));
    }
  }

  std::string place() const override {
    return cat(
        plan_.device.str(),
        ", LibTorch ",
        TORCH_VERSION,
        ", batches of ",
        batch_);
  }

 private:
  // A whole batch of it. On a CPU convolutions are quicker with the channels
  // last; elsewhere the order stays.
  at::Tensor filled(const at::Tensor& part) const {
    const bool last = plan_.device.is_cpu() && plan_.images && part.dim() == 4;
    const auto format =
        last ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Contiguous;
    if (part.size(0) == batch_) return part.contiguous(format);
    std::vector<std::int64_t> sizes = part.sizes().vec();
    sizes[0] = batch_;
    at::Tensor whole = at::zeros(sizes, part.options());
    whole.narrow(0, 0, part.size(0)).copy_(part);
    return whole.contiguous(format);
  }

  model::GraphModule module_;
  std::vector<std::int64_t> shape_;
  std::int64_t batch_;
  std::int64_t values_;
  BatchPlan plan_;
  BatchMover mover_;
};

} // namespace

std::unique_ptr<FeatureExtractor> make_extractor(
    const ExtractorRequest& request) {
  return std::make_unique<TorchExtractor>(request);
}

} // namespace temper::train
