// The page of an operator: all that is known about it, declared once in the
// file of its family (op_*.cpp) and read by shapes, memory, costs, passes and
// the executor. An operator without a page is computed all the same; nobody
// knows then what it draws, keeps or shares. No torch here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "temper/graph/ir/graph.h"
#include "temper/graph/ir/op_name.h"
#include "temper/graph/ir/shape.h"

namespace temper::graph {

class NodeArguments;
class NodeShapes;
class SavedContext;

// A result over the first tensor that the node reads.
struct ViewOf {
  const Shape& base;
  const Ints& strides; // of the base
  const Shape& made;
};

// Gives every result of the node its shape.
using ShapeRule = void (*)(NodeShapes&);
// The strides with which a result lies in the first tensor's memory; no value
// when the node makes memory of its own.
using MemoryRule = std::optional<Ints> (*)(const NodeArguments&, const ViewOf&);
// The rule of what autograd keeps of the node for the backward pass.
using SaveRule = void (*)(SavedContext&);
// Multiply-adds from the arguments and the first result.
using MacRule = std::int64_t (*)(const NodeArguments&, const Shape& made);
// Whether the node draws random numbers.
using RandomRule = bool (*)(const NodeArguments&);

enum class Gradient {
  kUndeclared,
  kComputed, // a new tensor for each input
  kHandedOn, // the result's gradient as it is, or a view of it
  kCut, // the result depends on no value of its input
};

// How the dimensions of the first tensor become those of the result.
enum class Dimensions {
  kOther,
  kKept, // each where it was
  kBroadcast, // each where it was, beside "other"
  kRegrouped, // the same elements in order: view, flatten
  kSwapped, // dim0 and dim1
  kPermuted, // dims
  kInserted, // one at dim
  kSqueezed, // those at dim go if they are 1
  kSelected, // the one at dim goes
  kSliced, // the one at dim shrinks
  kReduced, // those at dim go, or become 1 with keepdim
};

// Layers that memory, costs and passes treat in a way of their own.
enum class Layer {
  kOther,
  kConvolution, // transposed, if it has an argument that says so
  kTransposedConvolution,
  kMaxPool2d,
  kBatchNorm, // normalises with the statistics of the batch when it trains
  kAttention,
};

// Which sizes an operator is told in its arguments: a batch among them was a
// plain number in Python.
enum class ToldSizes {
  kNone,
  kViewed, // of the result, the batch first
  kAnywhere, // of the result
  kPart, // a part of one dimension
};

// Whether the last bits of what LibTorch makes of it, result and gradients,
// depend on the number of threads. They do not where each number is one
// rounding of one number of each input, or is only moved, or is added up by one
// thread. They do where threads cut a sum, and in functions such as exp:
// LibTorch has a vector's and a single number's version of them, and which one
// an element gets depends on where a thread's share ends.
enum class Threads {
  kMatter, // or nobody has looked
  kDoNotMatter,
  kMatterWhereSpread, // for the gradient of what stretches over the result
  kMatterForOneCell, // which is a mean over everything
};

// The argument that says whether the node trains.
struct ModeFlag {
  const char* argument;
  const char* after; // the argument before it in the schema
  const char* noun; // for reports
  const char* needs = nullptr; // without this tensor there is only one mode
  bool off_by_default = false; // an export leaves defaults out
};

struct Operator {
  ShapeRule shape = nullptr; // none: the shapes a file declares are believed
  MemoryRule memory = nullptr; // declared wherever there is a shape rule
  Gradient gradient = Gradient::kUndeclared; // likewise
  SaveRule saved = nullptr; // none: nothing but sizes
  MacRule macs = nullptr; // of convolutions and products of matrices
  // Operations an element of the result or the largest input. Rough: a
  // transcendental function counts as several.
  int flops = 1;
  RandomRule random = nullptr; // none: never
  const ModeFlag* mode = nullptr; // none: it trains as it evaluates
  bool moves_statistics = false; // writes running_mean and _var when it trains
  Dimensions dimensions = Dimensions::kOther;
  Layer layer = Layer::kOther;
  ToldSizes told = ToldSizes::kNone;
  Threads threads = Threads::kMatter;
  bool arithmetic = false; // computes with plain numbers: x / 32
  bool mixes_types = false; // autocast leaves the types of its inputs alone
  bool of_numbers = false; // computes sizes, as Python does
  bool only_checks = false; // makes nothing
};

// The page of the operator, in place or not, whatever its overload; null when
// there is none. Other libraries' operators have none, whatever their name.
const Operator* find_operator(const OpName& name);
const Operator* find_operator(const Node& node);

// Operators that have a page: "aten.conv2d", "_operator.add".
std::vector<std::string> operators_with_pages();

} // namespace temper::graph
