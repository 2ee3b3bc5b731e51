// The plain data inside a pickle, as PyTorch saves state dicts. A machine for
// the few instructions that such files use: it makes numbers, text, lists,
// dicts and descriptions of tensors, and knows no way to call anything. What a
// file wants beyond that is refused by name. (LibTorch's own unpickler of 1.13
// reads no OrderedDict, and falls over an instruction on an empty stack.)
// Used by the reader of .pth files only.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "temper/graph/ir/dtype.h"

namespace temper::weights {

struct PickleValue;
// Values belong to the Pickle; a dict may hold itself, so nobody walks deep.
using PickleItems = std::vector<const PickleValue*>;

struct PickleTensor {
  std::string_view storage; // the key of its bytes
  graph::DType dtype = graph::DType::kFloat32;
  std::int64_t storage_elements = 0;
  std::int64_t offset = 0; // in elements, as the strides
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;
};

struct PickleValue {
  enum class Kind {
    kNone,
    kBool,
    kInt,
    kFloat,
    kText,
    kTuple,
    kList,
    kDict, // items are key, value, key, value
    kGlobal, // text is "collections.OrderedDict"
    kStorage, // items are those of its persistent id
    kTensor,
    kOpaque, // harmless, and not needed: a torch.Size, a set
  };
  Kind kind = Kind::kNone;
  std::int64_t number = 0; // of a bool, an int
  std::string_view text; // of a text, in the pickle's bytes
  PickleItems items;
  const PickleTensor* tensor = nullptr;
};

class Pickle {
 public:
  // Runs it. `bytes` must outlive this; `file` is for errors. Error when it is
  // damaged, asks for code, or is too large to be a state dict.
  Pickle(std::span<const std::uint8_t> bytes, const std::string& file);

  const PickleValue& value() const {
    return *value_;
  }

 private:
  friend class PickleMachine;
  std::deque<PickleValue> values_;
  std::deque<PickleTensor> tensors_;
  std::deque<std::string> names_;
  const PickleValue* value_ = nullptr;
};

} // namespace temper::weights
