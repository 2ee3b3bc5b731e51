#include "temper/model/executor/attention.h"

#include <cmath>
#include <limits>

namespace temper::model {

at::Tensor attend(
    const at::Tensor& query,
    const at::Tensor& key,
    const at::Tensor& value,
    const at::Tensor& mask,
    const AttentionByParts& options) {
  at::Tensor keys = key;
  at::Tensor values = value;
  if (options.grouped) {
    keys = keys.repeat_interleave(query.size(-3) / key.size(-3), -3);
    values = values.repeat_interleave(query.size(-3) / value.size(-3), -3);
  }
  // Scaled half on each side, as LibTorch does it: large products of half
  // precision would overflow before one division.
  const double scale = options.scale.value_or(
      1 / std::sqrt(static_cast<double>(query.size(-1))));
  const double half = std::sqrt(std::abs(scale));
  at::Tensor scores = at::matmul(
      query * (scale < 0 ? -half : half), (keys * half).transpose(-2, -1));
  const double never = -std::numeric_limits<double>::infinity();
  at::Tensor allowed = mask;
  if (options.is_causal)
    allowed =
        at::ones(
            {query.size(-2), keys.size(-2)}, query.options().dtype(at::kBool))
            .tril();
  at::Tensor nowhere; // rows that may look at nothing
  if (allowed.defined() && allowed.scalar_type() == at::kBool) {
    scores = scores.masked_fill(allowed.logical_not(), never);
    nowhere = allowed.any(-1, true).logical_not();
  } else if (allowed.defined()) {
    scores = scores + allowed;
    nowhere = at::isneginf(allowed).all(-1, true);
  }
  // Newer LibTorch has zeros there, where softmax alone gives NaN, in the
  // gradient too.
  if (mask.defined()) scores = scores.masked_fill(nowhere, 0.0);
  at::Tensor weights = at::softmax(scores, -1);
  if (mask.defined()) weights = weights.masked_fill(nowhere, 0.0);
  if (options.dropout > 0)
    weights = at::dropout(weights, options.dropout, true);
  return at::matmul(weights, values);
}

} // namespace temper::model
