// The model as data: a flat list of ATen operators over named values, with
// every shape. The zoo builds one, a torch.export file (.pt2) holds one; passes
// turn one into another, the executor of room model runs it. No torch here.
//
// Values are known by their name within the graph ("p_fc_weight", "relu_3").
// Parameters and buffers have a second, real name ("fc.weight"): `target`.
// Nodes stand in the order they run.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "temper/graph/ir/dtype.h"
#include "temper/graph/ir/size.h"

namespace temper::graph {

struct Device {
  std::string type = "cpu";
  std::optional<int> index;
  friend bool operator==(const Device&, const Device&) = default;
};

struct TensorMeta {
  DType dtype = DType::kFloat32;
  Sizes sizes;
  Sizes strides; // in elements, as many as sizes
  Size storage_offset;
  bool requires_grad = false;
  Device device;
  int layout = 7; // torch.export's code for strided
  friend bool operator==(const TensorMeta&, const TensorMeta&) = default;
};

// Arguments. A number that the graph computes (sym_size) is known by name; it
// is an integer nearly always.
struct None {
  friend bool operator==(const None&, const None&) = default;
};
struct TensorName {
  std::string name;
  friend bool operator==(const TensorName&, const TensorName&) = default;
};
enum class NumberKind { kInt, kFloat, kBool };
struct NumberName {
  std::string name;
  NumberKind kind = NumberKind::kInt;
  friend bool operator==(const NumberName&, const NumberName&) = default;
};
struct MemoryFormat {
  int code = 0;
  friend bool operator==(const MemoryFormat&, const MemoryFormat&) = default;
};
struct Layout {
  int code = 0;
  friend bool operator==(const Layout&, const Layout&) = default;
};

using TensorNames = std::vector<TensorName>;
using OptionalTensorNames = std::vector<std::optional<TensorName>>;
using Ints = std::vector<std::int64_t>;
using IntOrName = std::variant<std::int64_t, NumberName>;
using Argument = std::variant<
    None,
    TensorName,
    TensorNames,
    OptionalTensorNames,
    NumberName,
    std::int64_t,
    Ints,
    std::vector<IntOrName>,
    double,
    std::vector<double>,
    bool,
    std::vector<bool>,
    std::string,
    std::vector<std::string>,
    DType,
    MemoryFormat,
    Layout,
    Device>;

struct NamedArgument {
  std::string name; // of the operator's schema: "input", "stride"
  Argument value;
  bool keyword = false;
  friend bool operator==(const NamedArgument&, const NamedArgument&) = default;
};

// chunk and split give a list of tensors, sym_size a number.
using Result = std::variant<TensorName, TensorNames, NumberName, None>;

// Copied and destroyed in graph.cpp: done in every file that passes a graph
// on, an Argument's eighteen kinds would be half of what it costs to compile.
struct Node {
  Node();
  Node(const Node& other);
  Node(Node&& other) noexcept;
  Node& operator=(const Node& other);
  Node& operator=(Node&& other) noexcept;
  ~Node();

  std::string op; // "aten.conv2d.default": namespace, operator, overload
  std::vector<NamedArgument> inputs; // those that are not the default
  std::vector<Result> outputs;
  std::string module; // "features.3.conv.1"; empty: the model itself
  std::string source; // the user's own line: "net.py:27"; empty: unknown
  // Which segment is computed again in the backward pass; none: -1.
  int recompute_segment = -1;
  // The exporter's notes (stack_trace, nn_module_stack, torch_fn), kept so that
  // a file goes out as it came in.
  std::map<std::string, std::string> metadata;
  friend bool operator==(const Node&, const Node&) = default;

  // The argument of that name; null when it was left at its default.
  const Argument* find(const std::string& name) const;
};

enum class InputKind { kParameter, kBuffer, kConstant, kUser };

struct Input {
  InputKind kind = InputKind::kUser;
  std::string value; // its name in the graph
  std::string target; // "features.0.0.weight"; of a user input: its name
  bool persistent = true; // buffers: part of the state dict
  bool trainable = true; // parameters: false when frozen
  friend bool operator==(const Input&, const Input&) = default;
};

enum class OutputKind { kUser, kBufferMutation };

struct Output {
  OutputKind kind = OutputKind::kUser;
  Argument value; // a TensorName nearly always
  std::string target; // of a mutation: the buffer's real name
  friend bool operator==(const Output&, const Output&) = default;
};

struct SymbolRange {
  std::optional<std::int64_t> low;
  std::optional<std::int64_t> high;
  friend bool operator==(const SymbolRange&, const SymbolRange&) = default;
};

// How Python calls the module: torch.export's own notation, carried along.
struct CallingConvention {
  std::string in_spec;
  std::string out_spec;
  std::vector<std::string> argument_names;
  friend bool operator==(const CallingConvention&, const CallingConvention&) =
      default;
};

struct Graph {
  Graph();
  Graph(const Graph& other);
  Graph(Graph&& other) noexcept;
  Graph& operator=(const Graph& other);
  Graph& operator=(Graph&& other) noexcept;
  ~Graph();

  std::vector<Input> inputs;
  std::vector<Node> nodes;
  std::vector<Output> outputs;
  std::map<std::string, TensorMeta> tensors; // of every tensor, by value name
  std::map<std::string, Size> numbers; // of every computed number
  std::map<std::string, SymbolRange> symbols; // {"s77", 2..4096}
  CallingConvention calling;
  std::string producer; // "PyTorch 2.14.1", "temper 0.1.0 resnet18"
  friend bool operator==(const Graph&, const Graph&) = default;

  const Input* find_target(const std::string& target) const;
  std::vector<const Input*> inputs_of(InputKind kind) const;
  // Error when there is no such tensor.
  const TensorMeta& meta(const std::string& value) const;
};

// Equal graphs have equal hashes, on every machine. What the exporter noted
// about its own files (metadata, source, producer) does not count.
std::uint64_t hash_of(const Graph& graph);

// Every tensor an argument names, in order. Used by passes and liveness.
std::vector<std::string> tensors_in(const Argument& argument);
std::vector<std::string> tensors_in(const Result& result);
// All that a node reads or makes, numbers included.
std::vector<std::string> values_read(const Node& node);
std::vector<std::string> values_made(const Node& node);

// Checks what must hold of every graph: names made once and before they are
// read, every tensor with a shape, known targets. Error, naming the node, if
// not. The .pt2 reader, the builder and the passes' tests call it.
void validate(const Graph& graph);

} // namespace temper::graph
