// Which element type an operator gives, as PyTorch decides it: bool, then
// integers, then floats; a tensor with dimensions outranks one without, which
// outranks a plain number of the same kind.
// Private to graph/op.
#pragma once

#include "temper/graph/ir/dtype.h"

namespace temper::graph {

// The smallest type that holds both.
DType promoted(DType a, DType b);

class Promotion {
 public:
  void add_tensor(DType type, bool has_dimensions);
  void add_number(DType type);
  DType result() const;

 private:
  std::optional<DType> dimensioned_;
  std::optional<DType> scalar_;
  std::optional<DType> number_;
};

// The type that sin or a mean gives: integers become float32.
DType float_of(DType type);

} // namespace temper::graph
