// The arguments of one node, resolved once: tensors to slots, numbers and lists
// to values or slots, absent ones to the defaults of LibTorch's schema. The
// makers of steps (direct, boxed, decomposed, people's own) read from it.
// Includes torch: see module.h.
#pragma once

#include <ATen/ATen.h>
#include <ATen/core/function_schema.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "temper/graph/ir/graph.h"
#include "temper/model/executor/executor_frame.h"

namespace temper::model {

// Where the graph runs now, and which floating type stands for the exported
// one. Devices and types that nodes name follow.
struct TargetDevice {
  at::Device device = at::kCPU;
  at::ScalarType exported = at::kFloat;
  at::ScalarType floating = at::kFloat;
  friend bool operator==(const TargetDevice&, const TargetDevice&) = default;
};

// The slots of a graph under preparation.
class Slots {
 public:
  int add_tensor(const std::string& value);
  int add_constant(const at::Tensor& tensor);
  int add_number(const std::string& value);
  int tensor(const std::string& value) const;
  int number(const std::string& value) const;

  // One that has no name in the graph.
  int add_unnamed() {
    return tensor_count_++;
  }
  int tensor_count() const {
    return tensor_count_;
  }
  int number_count() const {
    return static_cast<int>(numbers_.size());
  }
  const std::vector<std::pair<int, at::Tensor>>& constants() const {
    return constants_;
  }

 private:
  std::map<std::string, int> tensors_;
  std::map<std::string, int> numbers_;
  std::vector<std::pair<int, at::Tensor>> constants_;
  int tensor_count_ = kNoTensor + 1;
};

// A number that stands in the file, or one that the graph computes.
struct Number {
  at::Scalar fixed = 0;
  int slot = -1;

  const at::Scalar& get(const Frame& frame) const {
    return slot < 0 ? fixed : frame.numbers[static_cast<std::size_t>(slot)];
  }
  std::int64_t integer(const Frame& frame) const;
  double real(const Frame& frame) const;
};

// Sizes and the like, of which some may be computed.
struct Ints {
  std::vector<std::int64_t> fixed;
  std::vector<std::pair<std::size_t, int>> computed; // position, slot

  at::IntArrayRef get(const Frame& frame, at::DimVector& scratch) const;
};

class Arguments {
 public:
  // `schema` is null for operators that this LibTorch does not have.
  Arguments(
      const graph::Node& node,
      const c10::FunctionSchema* schema,
      Slots& slots,
      const TargetDevice& place);

  const graph::Node& node() const {
    return node_;
  }
  const c10::FunctionSchema* schema() const {
    return schema_;
  }
  // Reads the arguments by the schema of another operator that does the same.
  void take_schema(const c10::FunctionSchema& schema) {
    schema_ = &schema;
  }
  const TargetDevice& place() const {
    return place_;
  }

  // The argument of that name; null when it was left at its default.
  const graph::Argument* find(const std::string& name) const;
  bool given(const std::string& name) const; // and is not None

  // Arguments by the schema's name. Error, naming the node, when an argument is
  // absent without a default or of another kind.
  int tensor(const std::string& name);
  int optional_tensor(const std::string& name); // kNoTensor: none
  std::vector<int> tensors(const std::string& name);
  Ints ints(const std::string& name) const;
  Number number(
      const std::string& name,
      std::optional<at::Scalar> otherwise = {}) const;
  bool boolean(const std::string& name, std::optional<bool> otherwise = {})
      const;
  std::string text(const std::string& name) const;

  // The slot of an argument as a tensor: a number is wrapped, as PyTorch does,
  // so that it does not widen the other operand.
  int tensor_slot(const graph::Argument& value, const std::string& name);
  Number number_of(const graph::Argument& value, const std::string& name) const;
  Ints ints_of(const graph::Argument& value, const std::string& name) const;

  // The slot of the i-th result, which must be one tensor (number).
  int output(std::size_t index = 0) const;
  int number_output(std::size_t index = 0) const;
  std::vector<int> list_output(std::size_t index = 0) const;

  // The calls that must run before the node itself: numbers that become
  // tensors.
  std::vector<NodeCall> take_preludes();

  [[noreturn]] void refuse(const std::string& name, const std::string& why)
      const;

 private:
  const c10::IValue* fallback(const std::string& name) const;

  const graph::Node& node_;
  const c10::FunctionSchema* schema_;
  Slots& slots_;
  const TargetDevice& place_;
  std::vector<NodeCall> preludes_;
};

// Makes a node's step; an empty one when these arguments are not for it, and
// the dispatcher shall have them.
using StepMaker = std::function<NodeCall(Arguments&)>;

} // namespace temper::model
