// Many tensors of float32 on the CPU as runs of numbers that threads take from
// one list: what the kernels of one update are called with. Elements are
// independent, so neither the cut nor the threads change a bit. Used by the
// optimisers and by averaged weights. Includes torch: see task.h.
// Private to train/optimizer.
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
    std::size_t tensor; // as add() counted them
    std::size_t begin;
    std::size_t count;
  };

  void add(std::size_t tensor, const at::Tensor& sized_as);
  void clear(); // keeps its memory
  // Calls `work` for each span on the kernels' threads; it must not throw.
  void each(const std::function<void(const Span&)>& work) const;

 private:
  std::vector<Span> runs_;
  std::size_t numbers_ = 0;
};

} // namespace temper::train
