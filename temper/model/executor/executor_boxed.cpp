// Every other ATen operator, through the dispatcher: arguments laid on a stack
// in the schema's order, results taken from it.
#include <ATen/core/ivalue.h>
#include <ATen/core/jit_type.h>
#include <ATen/core/stack.h>

#include <algorithm>
#include <array>

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/model/executor/executor_errors.h"
#include "temper/model/executor/executor_steps.h"
#include "temper/model/module/tensors.h"

namespace temper::model {
namespace {

using c10::IValue;
using c10::TypeKind;
// Lays one argument on the stack.
using Push = std::function<void(const Frame&, torch::jit::Stack&)>;
// Takes one result from it.
using Pop = std::function<void(const IValue&, Frame&)>;

Push fixed(IValue value) {
  return [value = std::move(value)](const Frame&, torch::jit::Stack& stack) {
    stack.push_back(value);
  };
}

c10::TypePtr inner_type(const c10::Argument& argument) {
  const auto optional = argument.type()->cast<c10::OptionalType>();
  return optional ? optional->getElementType() : argument.type();
}

// torch.export counts layouts from 1 and has strided as 7.
IValue layout_value(const graph::Layout& layout, const Arguments& arguments) {
  if (layout.code != 7)
    throw Error(cat(
        "[model] ",
        node_text(arguments.node()),
        " asks for a layout that is not strided, which temper does not run."));
  return static_cast<std::int64_t>(at::kStrided);
}

IValue memory_format_value(const graph::MemoryFormat& format) {
  static const std::array<at::MemoryFormat, 4> kFormats{
      at::MemoryFormat::Contiguous,
      at::MemoryFormat::ChannelsLast,
      at::MemoryFormat::ChannelsLast3d,
      at::MemoryFormat::Preserve};
  if (format.code < 1 || format.code > 4)
    throw Error(cat("[model] memory format ", format.code, " is unknown."));
  return static_cast<std::int64_t>(
      kFormats[static_cast<std::size_t>(format.code - 1)]);
}

bool makes_tensors_of_nothing(const c10::FunctionSchema& schema) {
  return std::ranges::none_of(
      schema.arguments(), [](const c10::Argument& argument) {
        return argument.type()->isSubtypeOf(*c10::TensorType::get());
      });
}

// Others, as full and arange, look at the numbers they are given.
bool makes_floats_by_default(const std::string& op) {
  constexpr const char* kMakers[] = {
      "zeros.", "ones.", "empty.", "rand.", "randn.", "eye.", "linspace."};
  return std::ranges::any_of(kMakers, [&](const char* name) {
    return op.starts_with(cat("aten.", name));
  });
}

// The exported floating type follows the module's. A node that converts keeps
// the type it asks for when the module became narrower, as PyTorch's does.
at::ScalarType placed_type(graph::DType asked, const Arguments& arguments) {
  const auto type = scalar_type_of(asked);
  const TargetDevice& place = arguments.place();
  if (type != place.exported || place.floating == place.exported) return type;
  const bool wider =
      c10::elementSize(place.floating) > c10::elementSize(place.exported);
  return wider || makes_tensors_of_nothing(*arguments.schema()) ? place.floating
                                                                : type;
}

Push number_push(const Number& number, TypeKind kind) {
  const auto convert = [kind](const at::Scalar& value) -> IValue {
    if (kind == TypeKind::IntType || kind == TypeKind::SymIntType)
      return value.toLong();
    if (kind == TypeKind::FloatType) return value.toDouble();
    if (kind == TypeKind::BoolType) return value.toBool();
    return value;
  };
  if (number.slot < 0) return fixed(convert(number.fixed));
  return [number, convert](const Frame& frame, torch::jit::Stack& stack) {
    stack.push_back(convert(number.get(frame)));
  };
}

Push ints_push(const Ints& ints) {
  if (ints.computed.empty()) return fixed(ints.fixed);
  return [ints](const Frame& frame, torch::jit::Stack& stack) {
    at::DimVector scratch;
    stack.push_back(ints.get(frame, scratch).vec());
  };
}

Push tensors_push(std::vector<int> slots) {
  return
      [slots = std::move(slots)](const Frame& frame, torch::jit::Stack& stack) {
        c10::List<at::Tensor> list;
        list.reserve(slots.size());
        for (const int slot : slots)
          list.push_back(at_slot(frame, slot));
        stack.push_back(std::move(list));
      };
}

Push optional_tensors_push(std::vector<int> slots) {
  return
      [slots = std::move(slots)](const Frame& frame, torch::jit::Stack& stack) {
        c10::List<c10::optional<at::Tensor>> list;
        list.reserve(slots.size());
        for (const int slot : slots) {
          if (slot == kNoTensor)
            list.push_back(c10::optional<at::Tensor>());
          else
            list.push_back(at_slot(frame, slot));
        }
        stack.push_back(std::move(list));
      };
}

Push list_push(
    const graph::Argument& value,
    const c10::Argument& wanted,
    const c10::ListType& type,
    Arguments& arguments) {
  const auto& element = type.getElementType();
  std::vector<int> slots;
  if (const auto* names = std::get_if<graph::TensorNames>(&value)) {
    for (const auto& name : *names)
      slots.push_back(arguments.tensor_slot(name, wanted.name()));
  } else if (
      const auto* some = std::get_if<graph::OptionalTensorNames>(&value)) {
    for (const auto& name : *some)
      slots.push_back(
          name ? arguments.tensor_slot(*name, wanted.name()) : kNoTensor);
  }
  if (element->kind() == TypeKind::TensorType)
    return tensors_push(std::move(slots));
  if (element->kind() == TypeKind::OptionalType)
    return optional_tensors_push(std::move(slots));
  if (const auto* reals = std::get_if<std::vector<double>>(&value))
    return fixed(*reals);
  if (const auto* flags = std::get_if<std::vector<bool>>(&value)) {
    c10::List<bool> list;
    for (const bool flag : *flags)
      list.push_back(flag);
    return fixed(list);
  }
  if (const auto* texts = std::get_if<std::vector<std::string>>(&value)) {
    c10::List<std::string> list;
    for (const auto& text : *texts)
      list.push_back(text);
    return fixed(list);
  }
  const Ints ints = arguments.ints_of(value, wanted.name());
  if (element->kind() != TypeKind::FloatType) return ints_push(ints);
  return fixed(std::vector<double>(ints.fixed.begin(), ints.fixed.end()));
}

Push value_push(
    const graph::Argument& value,
    const c10::Argument& wanted,
    Arguments& arguments) {
  if (std::holds_alternative<graph::None>(value)) return fixed(IValue());
  const auto type = inner_type(wanted);
  if (type->kind() == TypeKind::TensorType) {
    const int slot = arguments.tensor_slot(value, wanted.name());
    return [slot](const Frame& frame, torch::jit::Stack& stack) {
      stack.push_back(at_slot(frame, slot));
    };
  }
  if (const auto list = type->cast<c10::ListType>())
    return list_push(value, wanted, *list, arguments);
  if (const auto* text = std::get_if<std::string>(&value)) return fixed(*text);
  if (const auto* dtype = std::get_if<graph::DType>(&value))
    return fixed(static_cast<std::int64_t>(placed_type(*dtype, arguments)));
  if (const auto* layout = std::get_if<graph::Layout>(&value))
    return fixed(layout_value(*layout, arguments));
  if (const auto* format = std::get_if<graph::MemoryFormat>(&value))
    return fixed(memory_format_value(*format));
  // A model is on one device: what the exporter's was called does not matter.
  if (std::holds_alternative<graph::Device>(value))
    return fixed(arguments.place().device);
  if (type->kind() == TypeKind::NoneType) return fixed(IValue());
  return number_push(arguments.number_of(value, wanted.name()), type->kind());
}

// Absent: the schema's default. What makes tensors of nothing makes them where
// the model is.
Push default_push(const c10::Argument& wanted, const Arguments& arguments) {
  const TargetDevice& place = arguments.place();
  if (makes_tensors_of_nothing(*arguments.schema())) {
    if (wanted.name() == "device") return fixed(place.device);
    if (wanted.name() == "dtype" && place.floating != place.exported &&
        makes_floats_by_default(arguments.node().op))
      return fixed(static_cast<std::int64_t>(place.floating));
  }
  if (!wanted.default_value()) {
    if (wanted.type()->kind() == TypeKind::OptionalType) return fixed(IValue());
    arguments.refuse(wanted.name(), "is absent");
  }
  return fixed(*wanted.default_value());
}

Pop tensor_pop(int slot) {
  return [slot](const IValue& value, Frame& frame) {
    frame.tensors[static_cast<std::size_t>(slot)] = value.toTensor();
  };
}

Pop list_pop(std::vector<int> slots) {
  return [slots = std::move(slots)](const IValue& value, Frame& frame) {
    const auto list = value.toTensorVector();
    TORCH_CHECK(
        list.size() == slots.size(),
        "it gave ",
        list.size(),
        " tensors where the graph has ",
        slots.size());
    for (std::size_t i = 0; i < slots.size(); ++i)
      frame.tensors[static_cast<std::size_t>(slots[i])] = list[i];
  };
}

Pop number_pop(int slot) {
  return [slot](const IValue& value, Frame& frame) {
    frame.numbers[static_cast<std::size_t>(slot)] = value.toScalar();
  };
}

std::vector<Pop> pops(const Arguments& arguments) {
  std::vector<Pop> all;
  const auto& outputs = arguments.node().outputs;
  const auto& returns = arguments.schema()->returns();
  // A list that the exporter took apart into its tensors.
  if (returns.size() == 1 && returns[0].type()->kind() == TypeKind::ListType &&
      !outputs.empty() &&
      std::holds_alternative<graph::TensorName>(outputs[0])) {
    std::vector<int> slots;
    for (std::size_t i = 0; i < outputs.size(); ++i)
      slots.push_back(arguments.output(i));
    return {list_pop(std::move(slots))};
  }
  if (outputs.size() > returns.size())
    throw Error(
        cat("[model] ",
            node_text(arguments.node()),
            " has ",
            outputs.size(),
            " results in the graph and ",
            returns.size(),
            " in LibTorch."));
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (std::holds_alternative<graph::TensorName>(outputs[i]))
      all.push_back(tensor_pop(arguments.output(i)));
    else if (std::holds_alternative<graph::TensorNames>(outputs[i]))
      all.push_back(list_pop(arguments.list_output(i)));
    else if (std::holds_alternative<graph::NumberName>(outputs[i]))
      all.push_back(number_pop(arguments.number_output(i)));
    else
      all.push_back([](const IValue&, Frame&) {});
  }
  return all;
}

// An argument that only a newer LibTorch's schema has must not be lost.
void check_names(const Arguments& arguments) {
  const auto& known = arguments.schema()->arguments();
  for (const auto& input : arguments.node().inputs) {
    const bool found =
        std::any_of(known.begin(), known.end(), [&](const auto& argument) {
          return argument.name() == input.name;
        });
    if (!found && !std::holds_alternative<graph::None>(input.value))
      arguments.refuse(input.name, "is unknown to this LibTorch");
  }
}

} // namespace

std::optional<c10::OperatorHandle> find_torch_operator(const std::string& op) {
  const auto first = op.find('.');
  const auto last = op.rfind('.');
  if (first == std::string::npos || first == last) return {};
  const std::string overload = op.substr(last + 1);
  const auto found = c10::Dispatcher::singleton().findSchema(
      {cat(op.substr(0, first), "::", op.substr(first + 1, last - first - 1)),
       overload == "default" ? "" : overload});
  if (!found) return {};
  return *found;
}

NodeCall boxed_step(const c10::OperatorHandle& op, Arguments& arguments) {
  check_names(arguments);
  std::vector<Push> pushes;
  for (const auto& wanted : op.schema().arguments()) {
    const auto* value = arguments.find(wanted.name());
    pushes.push_back(
        value != nullptr ? value_push(*value, wanted, arguments)
                         : default_push(wanted, arguments));
  }
  return
      [op, pushes = std::move(pushes), pops = pops(arguments)](Frame& frame) {
        torch::jit::Stack stack;
        stack.reserve(pushes.size());
        for (const auto& push : pushes)
          push(frame, stack);
        op.callBoxed(stack);
        for (std::size_t i = 0; i < pops.size(); ++i)
          pops[i](stack[i], frame);
      };
}

} // namespace temper::model
