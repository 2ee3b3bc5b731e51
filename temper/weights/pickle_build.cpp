// The values that a pickle may build: ordered dicts, and tensors over storages.
// The list of names is short, and none of them is ever called: temper does
// itself what they would do.
#include <array>
#include <utility>

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/weights/pickle_machine.h"
#include "temper/weights/safetensors_header.h"

namespace temper::weights {
namespace {

using graph::DType;

constexpr std::array<std::pair<std::string_view, DType>, 10> kStorages{{
    {"torch.FloatStorage", DType::kFloat32},
    {"torch.DoubleStorage", DType::kFloat64},
    {"torch.HalfStorage", DType::kFloat16},
    {"torch.BFloat16Storage", DType::kBfloat16},
    {"torch.ByteStorage", DType::kUint8},
    {"torch.CharStorage", DType::kInt8},
    {"torch.ShortStorage", DType::kInt16},
    {"torch.IntStorage", DType::kInt32},
    {"torch.LongStorage", DType::kInt64},
    {"torch.BoolStorage", DType::kBool},
}};

constexpr std::string_view kOrderedDict = "collections.OrderedDict";
constexpr std::string_view kRebuildTensor = "torch._utils._rebuild_tensor_v2";
constexpr std::string_view kRebuildParameter =
    "torch._utils._rebuild_parameter";
constexpr std::string_view kSize = "torch.Size";
constexpr std::string_view kDevice = "torch.device";

const DType* storage_type(std::string_view global) {
  for (const auto& [name, type] : kStorages)
    if (name == global) return &type;
  return nullptr;
}

bool is_known(std::string_view global) {
  for (const auto name :
       {kOrderedDict,
        kRebuildTensor,
        kRebuildParameter,
        kSize,
        kDevice,
        std::string_view("__builtin__.set"),
        std::string_view("builtins.set")})
    if (global == name) return true;
  if (storage_type(global) != nullptr) return true;
  // torch.float32 and the like, which some people save beside the weights.
  return global.starts_with("torch.") &&
      graph::dtype_named(global.substr(6)).has_value();
}

} // namespace

void PickleMachine::foreign(std::string_view global) const {
  const bool whole_model = global.starts_with("torch.nn.") ||
      global.starts_with("torchvision.") || global.starts_with("timm.") ||
      global.starts_with("__main__.");
  throw Error(
      whole_model ? cat("[model] cannot read ",
                        file_,
                        ": it holds a whole Python object (",
                        shown_name(global),
                        "), and making that would run code.")
                  : cat("[model] cannot read ",
                        file_,
                        ": it wants to run ",
                        shown_name(global),
                        ", and temper runs no code out of a file."),
      "Where you trust it, save the weights alone in Python: "
      "torch.save(model.state_dict(), \"weights.pth\").");
}

void PickleMachine::push_global(
    std::string_view module,
    std::string_view name) {
  auto& full = pickle_.names_.emplace_back(module);
  full += '.';
  full += name;
  if (!is_known(full)) foreign(full);
  auto& value = make(Kind::kGlobal);
  value.text = full;
  push(value);
}

// ('storage', torch.FloatStorage, '0', 'cpu', 12)
void PickleMachine::persistent() {
  const auto& id = pop();
  const bool fits = id.kind == Kind::kTuple && id.items.size() == 5 &&
      id.items[0]->kind == Kind::kText && id.items[0]->text == "storage" &&
      id.items[1]->kind == Kind::kGlobal &&
      storage_type(id.items[1]->text) != nullptr &&
      id.items[2]->kind == Kind::kText && id.items[4]->kind == Kind::kInt &&
      id.items[4]->number >= 0;
  if (!fits) damaged("it refers to its bytes in an unknown way");
  auto& value = make(Kind::kStorage);
  value.items = id.items;
  push(value);
}

std::vector<std::int64_t> PickleMachine::numbers_in(
    const PickleValue& value) const {
  constexpr std::size_t kMostDimensions = 64;
  if (value.kind != Kind::kTuple || value.items.size() > kMostDimensions)
    damaged("a tensor's sizes are not a tuple of at most 64 numbers");
  std::vector<std::int64_t> numbers;
  for (const auto* item : value.items) {
    if (item->kind != Kind::kInt || item->number < 0)
      damaged("a tensor's size or stride is no number, or negative");
    numbers.push_back(item->number);
  }
  return numbers;
}

// (storage, offset, sizes, strides, requires_grad, backward_hooks)
PickleValue& PickleMachine::rebuild_tensor(const PickleItems& arguments) {
  if (arguments.size() < 4 || arguments[0]->kind != Kind::kStorage ||
      arguments[1]->kind != Kind::kInt || arguments[1]->number < 0)
    damaged("it describes a tensor in an unknown way");
  const auto& storage = arguments[0]->items;
  PickleTensor tensor;
  tensor.storage = storage[2]->text;
  tensor.dtype = *storage_type(storage[1]->text);
  tensor.storage_elements = storage[4]->number;
  tensor.offset = arguments[1]->number;
  tensor.sizes = numbers_in(*arguments[2]);
  tensor.strides = numbers_in(*arguments[3]);
  if (tensor.sizes.size() != tensor.strides.size())
    damaged("a tensor has more or fewer strides than sizes");
  auto& value = make(Kind::kTensor);
  value.tensor = &pickle_.tensors_.emplace_back(std::move(tensor));
  return value;
}

void PickleMachine::reduce() {
  const auto& arguments = pop();
  const auto& global = pop();
  if (global.kind != Kind::kGlobal || arguments.kind != Kind::kTuple)
    damaged("its pickle calls what is no function");
  if (global.text == kRebuildTensor) {
    push(rebuild_tensor(arguments.items));
  } else if (global.text == kRebuildParameter) {
    if (arguments.items.empty() || arguments.items[0]->kind != Kind::kTensor)
      damaged("it has a parameter without a tensor");
    auto& value = make(Kind::kTensor);
    value.tensor = arguments.items[0]->tensor;
    push(value);
  } else if (global.text == kOrderedDict) {
    if (!arguments.items.empty())
      damaged("it has a dict that is made of something else");
    push(make(Kind::kDict));
  } else {
    push(make(Kind::kOpaque));
  }
}

// An OrderedDict's own attributes (_metadata: versions of modules). Not needed.
void PickleMachine::build() {
  pop();
  top();
}

} // namespace temper::weights
