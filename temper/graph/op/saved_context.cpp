#include "temper/graph/op/saved_context.h"

#include <algorithm>

#include "temper/graph/ir/op_name.h"
#include "temper/graph/ir/saturating.h"
#include "temper/graph/ir/strides.h"
#include "temper/graph/ir/weights.h"

namespace temper::graph {

bool SavedContext::wanted(const char* name) const {
  const Argument* argument = node().find(name);
  if (argument == nullptr) return false;
  const auto names = tensors_in(*argument);
  return std::any_of(names.begin(), names.end(), [&](const auto& value) {
    return with_gradient_.count(value) > 0;
  });
}

const Shape& SavedContext::result(std::size_t index) const {
  return known_.tensors.at(values_made(node()).at(index));
}

void SavedContext::keep(const char* name) {
  const Argument* argument = node().find(name);
  if (argument == nullptr) return;
  for (auto& value : tensors_in(*argument))
    saved_.values.push_back(std::move(value));
}

void SavedContext::keep_input() {
  if (op_name(node().op).in_place) {
    keep_bytes(bytes_of(first_tensor()));
    return;
  }
  for (const auto& input : node().inputs)
    if (const auto* tensor = std::get_if<TensorName>(&input.value)) {
      saved_.values.push_back(tensor->name);
      return;
    }
}

void SavedContext::keep_result(std::size_t index) {
  const auto made = values_made(node());
  if (index < made.size()) saved_.values.push_back(made[index]);
}

void SavedContext::keep_bytes(std::int64_t bytes) {
  saved_.extra_bytes = plus(saved_.extra_bytes, bytes);
}

void SavedContext::keep_operand(const char* name, const Ints& batch) {
  const auto* tensor = std::get_if<TensorName>(node().find(name));
  if (tensor == nullptr) return;
  const Shape& shape = known_.tensors.at(tensor->name);
  const StorageView& lay = places_.at(tensor->name);
  const auto rank = shape.sizes.size();
  Ints stretched = batch;
  Ints strides(batch.size(), 0);
  for (std::size_t i = std::min<std::size_t>(rank, 2); i > 0; --i) {
    stretched.push_back(shape.sizes[rank - i]);
    strides.push_back(lay.strides[rank - i]);
  }
  for (std::size_t i = 0; i + 2 < rank; ++i) {
    const auto place = batch.size() - (rank - 2) + i;
    if (shape.sizes[i] == batch[place]) strides[place] = lay.strides[i];
  }
  Ints merged{element_count(batch)};
  merged.insert(
      merged.end(),
      stretched.begin() + static_cast<std::ptrdiff_t>(batch.size()),
      stretched.end());
  if (viewed(stretched, strides, merged))
    saved_.values.push_back(tensor->name);
  else
    keep_bytes(bytes_of(Shape{shape.dtype, stretched}));
}

} // namespace temper::graph
