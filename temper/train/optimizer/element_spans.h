// Many tensors of float32 on the CPU as runs of numbers that threads take from
// one list: what the kernels of one update are called with. Elements are
// independent, so neither the cut nor the threads change a bit; and the cut
// itself follows from the tensors alone, so a sum over spans in their order
// does not depend on the threads either. Used by the optimisers, averaged
// weights and the gradient's norm. Includes torch: see task.h.
// Private to train.
#pragma once

#include <ATen/ATen.h>

#include <cstddef>
#include <functional>
#include <vector>

namespace temper::train {

// Float32 on the CPU without gaps: its memory is numel() numbers.
bool is_plain(const at::Tensor& tensor);
// The same, and its numbers lie where those of `other` do.
bool is_laid_out_as(const at::Tensor& tensor, const at::Tensor& other);

class ElementSpans {
 public:
  struct Span {
    std::size_t tensor; // as add() was told
    std::size_t begin;
    std::size_t count;
    std::size_t number; // of the span itself, from 0
  };

  void add(std::size_t tensor, const at::Tensor& sized_as);
  void clear(); // keeps its memory
  std::size_t size() const { // spans
    return runs_.size();
  }
  // Calls `work` for each span on the kernels' threads; it must not throw.
  void each(const std::function<void(const Span&)>& work) const;

 private:
  std::vector<Span> runs_;
  std::size_t numbers_ = 0;
};

} // namespace temper::train
