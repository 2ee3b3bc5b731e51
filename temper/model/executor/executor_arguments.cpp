#include "temper/model/executor/executor_arguments.h"

#include <ATen/ScalarOps.h>

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/model/executor/executor_errors.h"

namespace temper::model {
namespace {

at::Tensor wrapped(const at::Scalar& number) {
  at::Tensor tensor = at::scalar_to_tensor(number);
  tensor.unsafeGetTensorImpl()->set_wrapped_number(true);
  return tensor;
}

} // namespace

int Slots::add_tensor(const std::string& value) {
  const auto [place, fresh] = tensors_.emplace(value, tensor_count_);
  if (fresh) ++tensor_count_;
  return place->second;
}

int Slots::add_constant(const at::Tensor& tensor) {
  constants_.emplace_back(tensor_count_, tensor);
  return tensor_count_++;
}

int Slots::add_number(const std::string& value) {
  return numbers_.emplace(value, number_count()).first->second;
}

int Slots::tensor(const std::string& value) const {
  const auto found = tensors_.find(value);
  if (found == tensors_.end())
    throw Error(cat("[model] the graph has no tensor ", value, "."));
  return found->second;
}

int Slots::number(const std::string& value) const {
  const auto found = numbers_.find(value);
  if (found == numbers_.end())
    throw Error(cat("[model] the graph has no number ", value, "."));
  return found->second;
}

std::int64_t Number::integer(const Frame& frame) const {
  return get(frame).toLong();
}

double Number::real(const Frame& frame) const {
  return get(frame).toDouble();
}

at::IntArrayRef Ints::get(const Frame& frame, at::DimVector& scratch) const {
  if (computed.empty()) return fixed;
  scratch.assign(fixed.begin(), fixed.end());
  for (const auto& [position, slot] : computed)
    scratch[position] = frame.numbers[static_cast<std::size_t>(slot)].toLong();
  return scratch;
}

Arguments::Arguments(
    const graph::Node& node,
    const c10::FunctionSchema* schema,
    Slots& slots,
    const TargetDevice& place)
    : node_(node), schema_(schema), slots_(slots), place_(place) {}

const graph::Argument* Arguments::find(const std::string& name) const {
  return node_.find(name);
}

bool Arguments::given(const std::string& name) const {
  const auto* argument = find(name);
  return argument != nullptr && !std::holds_alternative<graph::None>(*argument);
}

void Arguments::refuse(const std::string& name, const std::string& why) const {
  throw Error(
      cat("[model] ", node_text(node_), ": argument ", name, " ", why, "."));
}

const c10::IValue* Arguments::fallback(const std::string& name) const {
  if (schema_ == nullptr) return nullptr;
  for (const auto& argument : schema_->arguments())
    if (argument.name() == name && argument.default_value())
      return &*argument.default_value();
  return nullptr;
}

int Arguments::tensor_slot(
    const graph::Argument& value,
    const std::string& name) {
  if (const auto* tensor = std::get_if<graph::TensorName>(&value))
    return slots_.tensor(tensor->name);
  if (std::holds_alternative<graph::None>(value)) return kNoTensor;
  const Number number = number_of(value, name);
  if (number.slot < 0) return slots_.add_constant(wrapped(number.fixed));
  const auto slot = static_cast<std::size_t>(slots_.add_unnamed());
  preludes_.push_back([number, slot](Frame& frame) {
    frame.tensors[slot] = wrapped(number.get(frame));
  });
  return static_cast<int>(slot);
}

int Arguments::optional_tensor(const std::string& name) {
  return given(name) ? tensor_slot(*find(name), name) : kNoTensor;
}

int Arguments::tensor(const std::string& name) {
  const int slot = optional_tensor(name);
  if (slot == kNoTensor) refuse(name, "is absent");
  return slot;
}

std::vector<int> Arguments::tensors(const std::string& name) {
  if (!given(name)) refuse(name, "is absent");
  const auto* list = std::get_if<graph::TensorNames>(find(name));
  if (list == nullptr) refuse(name, "is not a list of tensors");
  std::vector<int> found;
  for (const auto& tensor : *list)
    found.push_back(slots_.tensor(tensor.name));
  return found;
}

Number Arguments::number_of(
    const graph::Argument& value,
    const std::string& name) const {
  if (const auto* computed = std::get_if<graph::NumberName>(&value))
    return {0, slots_.number(computed->name)};
  if (const auto* integer = std::get_if<std::int64_t>(&value))
    return {*integer, -1};
  if (const auto* real = std::get_if<double>(&value)) return {*real, -1};
  if (const auto* flag = std::get_if<bool>(&value)) return {*flag, -1};
  refuse(name, "is not a number");
}

Number Arguments::number(
    const std::string& name,
    std::optional<at::Scalar> otherwise) const {
  if (given(name)) return number_of(*find(name), name);
  if (const auto* value = fallback(name); value && value->isScalar())
    return {value->toScalar(), -1};
  if (!otherwise) refuse(name, "is absent");
  return {*otherwise, -1};
}

bool Arguments::boolean(const std::string& name, std::optional<bool> otherwise)
    const {
  if (given(name)) {
    const Number value = number_of(*find(name), name);
    if (value.slot >= 0) refuse(name, "is not known before the graph runs");
    return value.fixed.toBool();
  }
  if (const auto* value = fallback(name); value && value->isBool())
    return value->toBool();
  if (!otherwise) refuse(name, "is absent");
  return *otherwise;
}

std::string Arguments::text(const std::string& name) const {
  if (given(name)) {
    if (const auto* text = std::get_if<std::string>(find(name))) return *text;
    refuse(name, "is not text");
  }
  if (const auto* value = fallback(name); value && value->isString())
    return value->toStringRef();
  return "";
}

Ints Arguments::ints_of(const graph::Argument& value, const std::string& name)
    const {
  if (const auto* list = std::get_if<graph::Ints>(&value)) return {*list, {}};
  Ints ints;
  if (const auto* mixed = std::get_if<std::vector<graph::IntOrName>>(&value)) {
    for (const auto& entry : *mixed) {
      if (const auto* computed = std::get_if<graph::NumberName>(&entry))
        ints.computed.emplace_back(
            ints.fixed.size(), slots_.number(computed->name));
      const auto* fixed = std::get_if<std::int64_t>(&entry);
      ints.fixed.push_back(fixed == nullptr ? 0 : *fixed);
    }
    return ints;
  }
  // One number for a list: PyTorch repeats it as often as the schema says.
  std::size_t times = 1;
  if (schema_ != nullptr)
    for (const auto& argument : schema_->arguments())
      if (argument.name() == name && argument.N())
        times = static_cast<std::size_t>(*argument.N());
  const Number one = number_of(value, name);
  for (std::size_t i = 0; i < times; ++i) {
    if (one.slot >= 0) ints.computed.emplace_back(i, one.slot);
    ints.fixed.push_back(one.slot >= 0 ? 0 : one.fixed.toLong());
  }
  return ints;
}

Ints Arguments::ints(const std::string& name) const {
  if (given(name)) return ints_of(*find(name), name);
  if (const auto* value = fallback(name); value && value->isIntList())
    return {value->toIntVector(), {}};
  return {};
}

int Arguments::output(std::size_t index) const {
  const auto* name = index < node_.outputs.size()
      ? std::get_if<graph::TensorName>(&node_.outputs[index])
      : nullptr;
  if (name == nullptr)
    throw Error(cat(
        "[model] ", node_text(node_), ": result ", index, " is not a tensor."));
  return slots_.tensor(name->name);
}

int Arguments::number_output(std::size_t index) const {
  const auto* name = index < node_.outputs.size()
      ? std::get_if<graph::NumberName>(&node_.outputs[index])
      : nullptr;
  if (name == nullptr)
    throw Error(cat(
        "[model] ", node_text(node_), ": result ", index, " is not a number."));
  return slots_.number(name->name);
}

std::vector<int> Arguments::list_output(std::size_t index) const {
  const auto* names = index < node_.outputs.size()
      ? std::get_if<graph::TensorNames>(&node_.outputs[index])
      : nullptr;
  if (names == nullptr)
    throw Error(
        cat("[model] ",
            node_text(node_),
            ": result ",
            index,
            " is not a list of tensors."));
  std::vector<int> found;
  for (const auto& name : *names)
    found.push_back(slots_.tensor(name.name));
  return found;
}

std::vector<NodeCall> Arguments::take_preludes() {
  return std::exchange(preludes_, {});
}

} // namespace temper::model
