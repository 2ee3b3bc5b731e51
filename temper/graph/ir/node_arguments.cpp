#include "temper/graph/ir/node_arguments.h"

#include <algorithm>

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/graph/ir/op_name.h"

namespace temper::graph {

std::string sizes_text(const Ints& sizes) {
  std::string text = "[";
  for (const auto size : sizes)
    text += cat(text.size() > 1 ? ", " : "", size);
  return text + "]";
}

std::string describe(const Node& node) {
  const auto made = values_made(node);
  const std::string_view op = op_name(node.op).name;
  std::string text =
      made.empty() ? std::string(op) : cat(made.front(), " (", op, ")");
  if (!node.module.empty()) text += cat(" in ", node.module);
  if (!node.source.empty()) text += cat(", ", node.source);
  return text;
}

void NodeArguments::refuse(const std::string& why) const {
  throw Error(
      cat("[graph] ", describe(node_), ": ", why, "."),
      "Check that the inputs have the sizes the model was made for.");
}

void NodeArguments::require(bool holds, const std::string& why) const {
  if (!holds) refuse(why);
}

bool NodeArguments::given(const char* name) const {
  const Argument* argument = node_.find(name);
  return argument != nullptr && !std::holds_alternative<None>(*argument);
}

std::string NodeArguments::tensor_name(const char* name) const {
  const Argument* argument = node_.find(name);
  const auto* tensor =
      argument == nullptr ? nullptr : std::get_if<TensorName>(argument);
  return tensor == nullptr ? "" : tensor->name;
}

std::string NodeArguments::subject() const {
  for (const auto& input : node_.inputs)
    if (const auto* tensor = std::get_if<TensorName>(&input.value))
      return tensor->name;
  return "";
}

const Shape* NodeArguments::shape_of(const Argument& argument) const {
  const auto* name = std::get_if<TensorName>(&argument);
  if (name == nullptr) return nullptr;
  check(known_ != nullptr, "whoever asks for a shape has inferred them");
  const auto found = known_->tensors.find(name->name);
  if (found == known_->tensors.end())
    refuse(cat("the shape of ", name->name, " is not known"));
  return &found->second;
}

const Shape* NodeArguments::find_tensor(const char* name) const {
  const Argument* argument = node_.find(name);
  return argument == nullptr ? nullptr : shape_of(*argument);
}

const Shape& NodeArguments::tensor(const char* name) const {
  const Shape* shape = find_tensor(name);
  if (shape == nullptr) refuse(cat("the tensor \"", name, "\" is missing"));
  return *shape;
}

std::vector<Shape> NodeArguments::tensors(const char* name) const {
  const Argument* argument = node_.find(name);
  if (argument == nullptr) refuse(cat("the list \"", name, "\" is missing"));
  std::vector<Shape> shapes;
  for (const auto& each : tensors_in(*argument))
    shapes.push_back(*shape_of(TensorName{each}));
  return shapes;
}

const Shape& NodeArguments::first_tensor() const {
  for (const auto& input : node_.inputs)
    if (const Shape* shape = shape_of(input.value)) return *shape;
  refuse("it reads no tensor");
}

std::optional<std::int64_t> NodeArguments::number_of(
    const Argument& argument) const {
  if (const auto* fixed = std::get_if<std::int64_t>(&argument)) return *fixed;
  if (const auto* named = std::get_if<NumberName>(&argument)) {
    if (known_ == nullptr) return std::nullopt;
    const auto found = known_->numbers.find(named->name);
    if (found == known_->numbers.end())
      refuse(cat("the number ", named->name, " is not known"));
    return found->second;
  }
  return std::nullopt;
}

std::int64_t NodeArguments::integer(const char* name) const {
  const Argument* argument = node_.find(name);
  const auto number = argument == nullptr ? std::nullopt : number_of(*argument);
  if (!number) refuse(cat("the integer \"", name, "\" is missing"));
  return *number;
}

std::int64_t NodeArguments::integer(const char* name, std::int64_t fallback)
    const {
  return given(name) ? integer(name) : fallback;
}

Ints NodeArguments::integers(const char* name) const {
  const Argument* argument = node_.find(name);
  if (argument != nullptr) {
    if (const auto* fixed = std::get_if<Ints>(argument)) return *fixed;
    if (const auto* mixed = std::get_if<std::vector<IntOrName>>(argument)) {
      Ints numbers;
      for (const auto& each : *mixed) {
        if (const auto* fixed = std::get_if<std::int64_t>(&each))
          numbers.push_back(*fixed);
        else
          numbers.push_back(*number_of(std::get<NumberName>(each)));
      }
      return numbers;
    }
    if (const auto number = number_of(*argument)) return {*number};
    // An empty list has no kind of its own.
    if (tensors_in(*argument).empty()) return {};
  }
  refuse(cat("the integers \"", name, "\" are missing"));
}

Ints NodeArguments::integers(const char* name, const Ints& fallback) const {
  return given(name) ? integers(name) : fallback;
}

Ints NodeArguments::repeated(
    const char* name,
    std::size_t count,
    const Ints& fallback) const {
  Ints numbers = integers(name, fallback);
  if (numbers.empty()) numbers = fallback;
  if (numbers.size() == 1) numbers.resize(count, numbers.front());
  require(
      numbers.size() == count,
      cat("\"", name, "\" has ", numbers.size(), " numbers, not ", count));
  return numbers;
}

std::vector<double> NodeArguments::reals(const char* name) const {
  const Argument* argument = node_.find(name);
  if (argument == nullptr) return {};
  if (const auto* list = std::get_if<std::vector<double>>(argument))
    return *list;
  if (const auto* single = std::get_if<double>(argument)) return {*single};
  return {};
}

double NodeArguments::real(const char* name, double fallback) const {
  const Argument* argument = node_.find(name);
  if (argument == nullptr) return fallback;
  if (const auto* value = std::get_if<double>(argument)) return *value;
  if (const auto whole = number_of(*argument))
    return static_cast<double>(*whole);
  return fallback;
}

bool NodeArguments::flag(const char* name, bool fallback) const {
  const Argument* argument = node_.find(name);
  const auto* value =
      argument == nullptr ? nullptr : std::get_if<bool>(argument);
  return value == nullptr ? fallback : *value;
}

std::string NodeArguments::text(const char* name, const std::string& fallback)
    const {
  const Argument* argument = node_.find(name);
  const auto* value =
      argument == nullptr ? nullptr : std::get_if<std::string>(argument);
  return value == nullptr ? fallback : *value;
}

std::optional<DType> NodeArguments::dtype(const char* name) const {
  const Argument* argument = node_.find(name);
  if (argument == nullptr) return std::nullopt;
  if (const auto* type = std::get_if<DType>(argument)) return *type;
  if (const auto* code = std::get_if<std::int64_t>(argument))
    return dtype_of_code(*code);
  return std::nullopt;
}

std::size_t NodeArguments::axis(std::int64_t dim, std::size_t rank) const {
  // A tensor without dimensions takes 0 and -1.
  const auto count = static_cast<std::int64_t>(std::max<std::size_t>(rank, 1));
  require(
      dim >= -count && dim < count,
      cat("dimension ", dim, " of a tensor that has ", rank));
  return static_cast<std::size_t>(dim < 0 ? dim + count : dim);
}

} // namespace temper::graph
