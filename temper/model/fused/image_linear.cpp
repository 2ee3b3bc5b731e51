// A linear layer over all numbers of an image. Its weight counts them plane by
// plane; where the image has its channels last, either the weight's columns or
// the image is brought into the other's order, whichever is smaller.
#include "temper/kernels/sequence/planes.h"
#include "temper/model/fused/dense.h"
#include "temper/model/fused/layers.h"

namespace temper::model {
namespace {

enum class InputOrder {
  kShared, // image and weight agree as they are
  kPixels, // the weight is brought to the image's order
  kPlanes // the image is brought to the weight's
};

// [count, channels, pixels] to [count, pixels, channels].
at::Tensor to_pixels(
    const at::Tensor& planes,
    std::int64_t channels,
    std::int64_t pixels) {
  at::Tensor found = at::empty(planes.sizes(), planes.options());
  kernels::transpose_each(
      planes.size(0), channels, pixels, floats_in(planes), floats_to(found));
  return found;
}

at::Tensor to_planes(
    const at::Tensor& by_pixels,
    std::int64_t channels,
    std::int64_t pixels) {
  return to_pixels(by_pixels, pixels, channels);
}

// Rows of numbers as an image with its channels last.
at::Tensor as_image(const at::Tensor& rows, at::IntArrayRef sizes) {
  return rows.view({sizes[0], sizes[2], sizes[3], sizes[1]})
      .permute({0, 3, 1, 2});
}

class ImageLinear final : public FusedOp {
 public:
  explicit ImageLinear(Activation act) : linear_(make_linear(act)) {}

  bool takes(const Tensors& in) const override {
    const at::Tensor& x = in.at(0);
    const at::Tensor& weight = in.at(1);
    return plain_float(x) && x.dim() == 4 && plain_float(weight) &&
        weight.dim() == 2 && weight.size(1) * x.size(0) == x.numel() &&
        absent_or_plain_of(in.at(2), {weight.size(0)}) &&
        absent_or_plain_of(in.at(3), {x.size(0), weight.size(0)});
  }

  at::Tensor forward(const Tensors& in, Tensors* saved) const override {
    const at::Tensor& x = in.at(0);
    const std::int64_t channels = x.size(1);
    const std::int64_t pixels = x.size(2) * x.size(3);
    const InputOrder order = order_of(x, in.at(1));
    Tensors given = in;
    if (order == InputOrder::kShared)
      given[0] = x.reshape({x.size(0), -1});
    else
      given[0] = x.permute({0, 2, 3, 1}).view({x.size(0), -1});
    if (order == InputOrder::kPixels)
      given[1] = to_pixels(dense(in.at(1)), channels, pixels);
    if (order == InputOrder::kPlanes)
      given[0] = to_planes(given[0], channels, pixels);
    const at::Tensor y = linear_->forward(given, saved);
    if (saved != nullptr) {
      saved->push_back(at::scalar_tensor(static_cast<int>(order), at::kInt));
      // One number that has the image's sizes.
      saved->push_back(at::empty({1}, x.options()).expand(x.sizes()));
    }
    return y;
  }

  Tensors backward(
      const Tensors& saved,
      const at::Tensor& gradient,
      const std::vector<bool>& wanted) const override {
    const at::IntArrayRef sizes = saved.back().sizes();
    const std::int64_t channels = sizes[1];
    const std::int64_t pixels = sizes[2] * sizes[3];
    const auto order =
        static_cast<InputOrder>(saved.at(saved.size() - 2).item<int>());
    Tensors found = linear_->backward(saved, gradient, wanted);
    if (order == InputOrder::kPixels && found[1].defined())
      found[1] = to_planes(found[1], channels, pixels);
    if (!found[0].defined()) return found;
    if (order == InputOrder::kShared)
      found[0] = found[0].view(sizes);
    else if (order == InputOrder::kPixels)
      found[0] = as_image(found[0], sizes);
    else
      found[0] = as_image(to_pixels(found[0], channels, pixels), sizes);
    return found;
  }

 private:
  static InputOrder order_of(const at::Tensor& x, const at::Tensor& weight) {
    if (x.is_contiguous() || !x.is_contiguous(at::MemoryFormat::ChannelsLast))
      return InputOrder::kShared;
    return weight.size(0) <= x.size(0) ? InputOrder::kPixels
                                       : InputOrder::kPlanes;
  }

  OpPointer linear_;
};

} // namespace

OpPointer make_image_linear(Activation act) {
  return std::make_shared<ImageLinear>(act);
}

} // namespace temper::model
