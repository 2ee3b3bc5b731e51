// Arguments of nodes as values of TorchScript.
#include <ATen/core/jit_type.h>

#include <array>

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/model/module/tensors.h"
#include "temper/model/script/script_builder.h"

namespace temper::model {
namespace {

using c10::IValue;

// torch.export's codes.
IValue memory_format(const graph::MemoryFormat& format) {
  constexpr std::array<at::MemoryFormat, 4> kFormats{
      at::MemoryFormat::Contiguous,
      at::MemoryFormat::ChannelsLast,
      at::MemoryFormat::ChannelsLast3d,
      at::MemoryFormat::Preserve};
  if (format.code < 1 || format.code > 4)
    throw Error(cat("[model] memory format ", format.code, " is unknown."));
  return static_cast<std::int64_t>(
      kFormats[static_cast<std::size_t>(format.code - 1)]);
}

IValue layout(const graph::Layout& layout) {
  constexpr int kStrided = 7;
  if (layout.code != kStrided)
    throw Error(
        "[model] TorchScript export: only strided tensors can be made.");
  return static_cast<std::int64_t>(at::kStrided);
}

c10::Device device(const graph::Device& device) {
  return c10::Device(
      device.index ? cat(device.type, ":", *device.index) : device.type);
}

template <class Element, class From>
IValue list_of(const std::vector<From>& elements) {
  c10::List<Element> list;
  for (const auto& element : elements)
    list.push_back(Element(element));
  return list;
}

} // namespace

torch::jit::Value* ScriptBuilder::number_list(
    const std::vector<graph::IntOrName>& numbers) {
  std::vector<Value*> values;
  for (const auto& number : numbers)
    if (const auto* fixed = std::get_if<std::int64_t>(&number))
      values.push_back(graph_->insertConstant(*fixed));
    else
      values.push_back(value_named(std::get<graph::NumberName>(number).name));
  return graph_->insertNode(graph_->createList(c10::IntType::get(), values))
      ->output();
}

torch::jit::Value* ScriptBuilder::tensor_list(
    const c10::TypePtr& element,
    const std::vector<Value*>& tensors) {
  return graph_->insertNode(graph_->createList(element, tensors))->output();
}

torch::jit::Value* ScriptBuilder::argument_value(
    const graph::Argument& argument) {
  struct Visitor {
    ScriptBuilder& self;

    Value* constant(const IValue& value) {
      return self.graph_->insertConstant(value);
    }

    Value* operator()(const graph::None&) {
      return constant(IValue());
    }
    Value* operator()(const graph::TensorName& tensor) {
      return self.value_named(tensor.name);
    }
    Value* operator()(const graph::NumberName& number) {
      return self.value_named(number.name);
    }
    Value* operator()(const graph::TensorNames& tensors) {
      std::vector<Value*> values;
      for (const auto& tensor : tensors)
        values.push_back(self.value_named(tensor.name));
      return self.tensor_list(c10::TensorType::get(), values);
    }
    Value* operator()(const graph::OptionalTensorNames& tensors) {
      std::vector<Value*> values;
      for (const auto& tensor : tensors)
        values.push_back(
            tensor ? self.value_named(tensor->name) : constant(IValue()));
      return self.tensor_list(c10::OptionalType::ofTensor(), values);
    }
    Value* operator()(std::int64_t number) {
      return constant(number);
    }
    Value* operator()(const graph::Ints& numbers) {
      return constant(list_of<std::int64_t>(numbers));
    }
    Value* operator()(const std::vector<graph::IntOrName>& numbers) {
      return self.number_list(numbers);
    }
    Value* operator()(double number) {
      return constant(number);
    }
    Value* operator()(const std::vector<double>& numbers) {
      return constant(list_of<double>(numbers));
    }
    Value* operator()(bool flag) {
      return constant(flag);
    }
    Value* operator()(const std::vector<bool>& flags) {
      return constant(list_of<bool>(flags));
    }
    Value* operator()(const std::string& text) {
      return constant(text);
    }
    Value* operator()(const std::vector<std::string>& texts) {
      return constant(list_of<std::string>(texts));
    }
    Value* operator()(graph::DType type) {
      return constant(static_cast<std::int64_t>(scalar_type_of(type)));
    }
    Value* operator()(const graph::MemoryFormat& format) {
      return constant(memory_format(format));
    }
    Value* operator()(const graph::Layout& code) {
      return constant(layout(code));
    }
    Value* operator()(const graph::Device& place) {
      return constant(device(place));
    }
  };
  return std::visit(Visitor{*this}, argument);
}

} // namespace temper::model
