#include "temper/train/torch/device_mismatch.h"

#include <array>
#include <optional>
#include <vector>

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/model/module/tensors.h"

namespace temper::train {
namespace {

struct Named {
  std::string name;
  at::Tensor tensor;
  std::string fix;
};

constexpr auto kToDevice =
    "Move it with .to(batch.inputs.device()), or name it with moves_along() in "
    "the task's constructor.";

// Everything a step is given, by the names a person knows it by.
std::vector<Named> named_tensors(const StepContext& context) {
  std::vector<Named> all;
  const std::string moves = "Move it in the model's own to().";
  for (const auto& each : context.task.model().parameters())
    all.push_back({"the parameter " + each.name, each.tensor, moves});
  for (const auto& each : context.task.model().buffers())
    all.push_back({"the buffer " + each.name, each.tensor, moves});
  for (const auto& [name, member] : context.task.companions())
    all.push_back({name, *member, "Call Task::to() in the task's own to()."});
  const TensorBatch& batch = context.batch;
  all.push_back({"batch.inputs", batch.inputs, kToDevice});
  all.push_back({"batch.targets", batch.targets, kToDevice});
  all.push_back({"batch.soft_targets", batch.soft_targets, kToDevice});
  return all;
}

struct TypeWord {
  const char* word; // LibTorch's
  at::ScalarType type;
};
constexpr std::array kTypeWords{
    TypeWord{"Double", at::kDouble},
    TypeWord{"double", at::kDouble},
    TypeWord{"float64", at::kDouble},
    TypeWord{"Float", at::kFloat},
    TypeWord{"float", at::kFloat},
    TypeWord{"Long", at::kLong},
    TypeWord{"long", at::kLong},
    TypeWord{"Half", at::kHalf},
    TypeWord{"Byte", at::kByte},
    TypeWord{"Bool", at::kBool}};

// The type named right after one of these words, if any.
std::optional<at::ScalarType> type_after(
    const std::string& message,
    const std::vector<std::string>& words) {
  for (const std::string& each : words) {
    const auto place = message.find(each);
    if (place == std::string::npos) continue;
    for (const auto& [word, type] : kTypeWords)
      if (message.substr(place + each.size()).starts_with(word)) return type;
  }
  return {};
}

// The type that does not belong: LibTorch says so, or names one that the model
// is not of.
std::optional<at::ScalarType> odd_type(
    const std::string& message,
    at::ScalarType usual) {
  if (const auto found = type_after(message, {"but found ", "Found dtype "}))
    return found;
  for (const auto& [word, type] : kTypeWords)
    if (type != usual && contains(message, word)) return type;
  return {};
}

std::string constant_of(at::ScalarType type) {
  return type == at::kLong  ? "at::kLong"
      : type == at::kDouble ? "at::kDouble"
                            : "at::kFloat";
}

} // namespace

at::ScalarType model_type(const StepContext& context) {
  for (const auto& each : context.task.model().parameters())
    if (at::isFloatingType(each.tensor.scalar_type()))
      return each.tensor.scalar_type();
  return at::kFloat;
}

std::string type_name(at::ScalarType type) {
  return std::string(graph::name_of(model::dtype_of(type)));
}

std::string given(const StepContext& context) {
  std::vector<std::string> parts;
  const auto tell = [&](const char* name, const at::Tensor& tensor) {
    if (tensor.defined())
      parts.push_back(
          cat(name,
              " ",
              model::tensor_text(tensor),
              " on ",
              tensor.device().str()));
  };
  tell("batch.inputs is", context.batch.inputs);
  tell("batch.targets", context.batch.targets);
  tell("batch.soft_targets", context.batch.soft_targets);
  parts.push_back(
      cat("the model ",
          type_name(model_type(context)),
          " on ",
          context.device.str()));
  return join(parts, ", ");
}

void mixed_devices(const StepContext& context, const std::string& why) {
  for (const Named& each : named_tensors(context)) {
    if (!each.tensor.defined() || each.tensor.device() == context.device)
      continue;
    throw Error(
        cat("[train] ",
            context.step,
            " mixes devices: ",
            each.name,
            " is on ",
            each.tensor.device().str(),
            ", and the model on ",
            context.device.str(),
            " (",
            why,
            ")."),
        each.fix);
  }
  throw Error(
      cat("[train] ",
          context.step,
          " mixes devices: ",
          given(context),
          "; a tensor of its own is on ",
          contains(why, "cpu") || !context.device.is_cpu() ? "cpu"
                                                           : "another device",
          " (",
          why,
          ")."),
      kToDevice);
}

void mixed_types(const StepContext& context, const std::string& why) {
  const at::ScalarType usual = model_type(context);
  const auto odd = odd_type(why, usual);
  const auto expected =
      type_after(why, {"expected scalar type ", "but expected "});
  const std::string fix =
      cat("Convert it with .to(", constant_of(expected.value_or(usual)), ").");
  if (odd && *odd != usual)
    for (const Named& each : named_tensors(context))
      if (each.tensor.defined() && each.tensor.scalar_type() == *odd)
        throw Error(
            cat("[train] ",
                context.step,
                " mixes types: ",
                each.name,
                " is ",
                type_name(*odd),
                ", and the model ",
                type_name(usual),
                " (",
                why,
                ")."),
            fix);
  throw Error(
      cat("[train] ",
          context.step,
          " mixes types: ",
          given(context),
          odd ? cat("; a tensor of its own is ", type_name(*odd)) : "",
          " (",
          why,
          ")."),
      fix);
}

} // namespace temper::train
