#include <bit>

#include "temper/base/digest/hash.h"
#include "temper/graph/ir/graph.h"

namespace temper::graph {
namespace {

class GraphHash {
 public:
  void add(const Graph& graph) {
    list(graph.inputs);
    list(graph.nodes);
    list(graph.outputs);
    for (const auto& [name, meta] : graph.tensors) {
      one(name);
      one(meta);
    }
    for (const auto& [name, size] : graph.numbers) {
      one(name);
      one(size);
    }
    for (const auto& [name, range] : graph.symbols) {
      one(name);
      one(range.low.has_value());
      one(range.low.value_or(0));
      one(range.high.has_value());
      one(range.high.value_or(0));
    }
    one(graph.calling.in_spec);
    one(graph.calling.out_spec);
    list(graph.calling.argument_names);
  }

  std::uint64_t value() const {
    return hasher_.value();
  }

 private:
  template <class T>
  void list(const std::vector<T>& items) {
    one(static_cast<std::int64_t>(items.size()));
    for (const T& each : items)
      one(each);
  }
  // A copy by value: std::vector<bool> has no references to give.
  void list(const std::vector<bool>& items) {
    one(static_cast<std::int64_t>(items.size()));
    for (const bool each : items)
      one(each);
  }

  void one(const std::string& text) {
    hasher_.add(text);
  }
  void one(std::int64_t number) {
    hasher_.add(static_cast<std::uint64_t>(number));
  }
  void one(double number) {
    hasher_.add(std::bit_cast<std::uint64_t>(number));
  }
  void one(bool yes) {
    hasher_.add(std::uint64_t{yes});
  }
  void one(DType type) {
    hasher_.add(static_cast<std::uint64_t>(type));
  }
  void one(const None&) {}
  void one(const TensorName& tensor) {
    one(tensor.name);
  }
  void one(const NumberName& number) {
    one(number.name);
  }
  void one(const MemoryFormat& format) {
    one(std::int64_t{format.code});
  }
  void one(const Layout& layout) {
    one(std::int64_t{layout.code});
  }
  void one(const Device& device) {
    one(device.type);
    one(std::int64_t{device.index.value_or(-1)});
  }
  void one(const Size& size) {
    one(size.value);
    one(size.expression);
  }
  void one(const std::optional<TensorName>& tensor) {
    one(tensor.has_value());
    if (tensor) one(*tensor);
  }
  template <class... Kinds>
  void one(const std::variant<Kinds...>& value) {
    one(static_cast<std::int64_t>(value.index()));
    std::visit([this](const auto& held) { held_by_variant(held); }, value);
  }
  template <class T>
  void held_by_variant(const std::vector<T>& items) {
    list(items);
  }
  template <class T>
  void held_by_variant(const T& item) {
    one(item);
  }
  void one(const TensorMeta& meta) {
    one(meta.dtype);
    list(meta.sizes);
    list(meta.strides);
    one(meta.storage_offset);
    one(meta.requires_grad);
    one(meta.device);
    one(std::int64_t{meta.layout});
  }
  void one(const NamedArgument& argument) {
    one(argument.name);
    one(argument.value);
    one(argument.keyword);
  }
  void one(const Node& node) {
    one(node.op);
    list(node.inputs);
    list(node.outputs);
    one(node.module);
    one(std::int64_t{node.recompute_segment});
  }
  void one(const Input& input) {
    one(static_cast<std::int64_t>(input.kind));
    one(input.value);
    one(input.target);
    one(input.persistent);
    one(input.trainable);
  }
  void one(const Output& output) {
    one(static_cast<std::int64_t>(output.kind));
    one(output.value);
    one(output.target);
  }

  Hasher hasher_;
};

} // namespace

std::uint64_t hash_of(const Graph& graph) {
  GraphHash hash;
  hash.add(graph);
  return hash.value();
}

} // namespace temper::graph
