#include "temper/train/torch/pending_losses.h"

#include <utility>

namespace temper::train {
namespace {

constexpr std::size_t kMostUnread = 2000;

} // namespace

PendingLosses::PendingLosses() {
  numbers_.reserve(kMostUnread + 2);
}

void PendingLosses::add(at::Tensor number) {
  numbers_.push_back(std::move(number));
}

bool PendingLosses::full() const {
  return numbers_.size() >= kMostUnread;
}

std::vector<double> PendingLosses::take() {
  if (numbers_.empty()) return {};
  // Converted here: on the way it would have to be float64 on the device.
  const at::Tensor read = at::stack(numbers_).to(at::kCPU).to(at::kDouble);
  const auto* first = read.data_ptr<double>();
  std::vector<double> taken{first, first + read.numel()};
  numbers_.clear();
  return taken;
}

} // namespace temper::train
