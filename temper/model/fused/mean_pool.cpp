// The mean over the pixels of each channel as an op: adaptive_avg_pool2d to
// one pixel, or mean over height and width. Nothing but sizes is kept.
#include "temper/kernels/conv/mean_pool.h"

#include "temper/model/fused/norm_call.h"

namespace temper::model {
namespace {

kernels::MeanPoolShape pool_shape_of(at::IntArrayRef sizes) {
  return {sizes[0], sizes[2] * sizes[3], sizes[1]};
}

class MeanPool final : public FusedOp {
 public:
  explicit MeanPool(bool keeps_plane) : keeps_plane_(keeps_plane) {}

  bool takes(const Tensors& inputs) const override {
    return is_float_on_cpu(inputs.at(0)) && inputs.at(0).dim() == 4;
  }

  at::Tensor forward(const Tensors& inputs, Tensors* saved) const override {
    const at::Tensor x = as_rows(inputs[0]);
    std::vector<std::int64_t> sizes{x.size(0), x.size(1)};
    if (keeps_plane_) sizes.insert(sizes.end(), {1, 1});
    at::Tensor means = at::empty(sizes, x.options());
    kernels::mean_pool_forward(
        pool_shape_of(x.sizes()), floats_of(x), floats_of(means));
    if (saved != nullptr) // one number that has x's sizes
      *saved = {at::empty({1}, x.options()).expand(x.sizes())};
    return means;
  }

  Tensors backward(
      const Tensors& saved,
      const at::Tensor& gradient,
      const std::vector<bool>& wanted) const override {
    if (!wanted[0]) return {at::Tensor()};
    const at::IntArrayRef sizes = saved[0].sizes();
    const at::Tensor rows = gradient.reshape({sizes[0], sizes[1]}).contiguous();
    at::Tensor found = empty_rows(sizes);
    kernels::mean_pool_backward(
        pool_shape_of(sizes), floats_of(rows), floats_of(found));
    return {found};
  }

 private:
  bool keeps_plane_; // [images, channels, 1, 1]
};

} // namespace

OpPointer make_mean_pool(bool keeps_plane) {
  return std::make_shared<MeanPool>(keeps_plane);
}

} // namespace temper::model
