// The buffers that a forward pass changes (BatchNorm's statistics), kept aside
// so that a step which fails leaves no trace. On the CPU a few copies of
// memory. Elsewhere whether a step was good may be known to the device alone:
// there what is kept moves on only while all is well, so that back() leads
// before the first step that was not, whenever that is found out. Includes
// torch: see task.h.
// Private to train.
#pragma once

#include <ATen/ATen.h>

#include <cstddef>
#include <vector>

#include "temper/model/module/module.h"

namespace temper::train {

class BufferBackup {
 public:
  // A backup for a model that is where it will be trained, in training mode;
  // the model must outlive this.
  explicit BufferBackup(const model::Module& model);

  // Called before a step. `finite_so_far`: a bool on the device, whether the
  // steps that nobody looked at were good; undefined: they were. May throw;
  // nothing has changed then.
  void begin(const at::Tensor& finite_so_far);
  // Goes back to where begin() was called, or to before the first step that was
  // not good. HalfDone when a buffer has another form than then: it stays as it
  // is.
  void back();

  std::size_t tensors() const; // kept aside

 private:
  // All buffers of one type, one after the other.
  struct Kept {
    std::vector<at::Tensor> buffers;
    at::Tensor values;
  };

  std::vector<Kept> found() const;
  // A network that is no graph may have put others in their place. False: they
  // have another form, and nothing was changed here.
  bool find_again();
  static bool are_alike(const Kept& a, const Kept& b);

  const model::Module& model_;
  std::vector<Kept> kept_; // one a type
};

} // namespace temper::train
