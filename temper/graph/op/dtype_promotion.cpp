#include "temper/graph/op/dtype_promotion.h"

#include <algorithm>

namespace temper::graph {
namespace {

// bool < integer < float.
int kind(DType type) {
  if (type == DType::kBool) return 0;
  return is_floating(type) ? 2 : 1;
}

std::optional<DType> joined(std::optional<DType> a, DType b) {
  return a ? promoted(*a, b) : b;
}

// The lower rank counts only when it is of a higher kind.
std::optional<DType> ranked(
    std::optional<DType> higher,
    std::optional<DType> lower) {
  if (!higher) return lower;
  if (!lower || kind(*lower) <= kind(*higher)) return higher;
  return promoted(*higher, *lower);
}

} // namespace

DType promoted(DType a, DType b) {
  if (a == b) return a;
  if (kind(a) != kind(b)) return kind(a) > kind(b) ? a : b;
  if (is_floating(a)) {
    // The two halves hold each other's numbers in neither.
    if (bytes_of(a) == bytes_of(b)) return DType::kFloat32;
    return bytes_of(a) > bytes_of(b) ? a : b;
  }
  // uint8 against int8 is the only pair of one size.
  if (bytes_of(a) == bytes_of(b)) return DType::kInt16;
  return bytes_of(a) > bytes_of(b) ? a : b;
}

void Promotion::add_tensor(DType type, bool has_dimensions) {
  auto& rank = has_dimensions ? dimensioned_ : scalar_;
  rank = joined(rank, type);
}

void Promotion::add_number(DType type) {
  number_ = joined(number_, type);
}

DType Promotion::result() const {
  return ranked(ranked(dimensioned_, scalar_), number_)
      .value_or(DType::kFloat32);
}

DType float_of(DType type) {
  return is_floating(type) ? type : DType::kFloat32;
}

} // namespace temper::graph
