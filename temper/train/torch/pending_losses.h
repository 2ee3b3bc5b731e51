// Numbers that lie on the device and that nobody has asked for yet: losses and
// gradient norms. Reading one makes the host wait for all the device has to
// do, so they are read together, when one of them is shown. Includes torch: see
// task.h.
// Private to train/torch.
#pragma once

#include <ATen/ATen.h>

#include <vector>

namespace temper::train {

class PendingLosses {
 public:
  PendingLosses();

  // One number, without a dimension or a history. There is room for it.
  void add(at::Tensor number);
  // True when there are so many that they should be read although nobody asked.
  bool full() const;
  // Gives the numbers in the order in which they were added, and forgets them.
  // One copy. A call that throws has forgotten nothing.
  std::vector<double> take();

 private:
  std::vector<at::Tensor> numbers_;
};

} // namespace temper::train
