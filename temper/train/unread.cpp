#include "temper/train/unread.h"

#include <utility>

namespace temper::train {
namespace {

constexpr std::size_t kMost = 2000;

} // namespace

void Unread::add(const at::Tensor& number) {
  numbers_.push_back(number.detach().reshape({}));
}

bool Unread::full() const {
  return numbers_.size() >= kMost;
}

std::vector<double> Unread::take() {
  const std::vector<at::Tensor> numbers = std::exchange(numbers_, {});
  if (numbers.empty()) return {};
  // Converted here: on the way it would have to be float64 on the device.
  const at::Tensor read = at::stack(numbers).to(at::kCPU).to(at::kDouble);
  const auto* first = read.data_ptr<double>();
  return {first, first + read.numel()};
}

} // namespace temper::train
