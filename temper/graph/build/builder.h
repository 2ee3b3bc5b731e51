// Builds a graph node by node, as torch.export would have written it: its names
// (p_features_0_0_weight, conv2d_1), its order of inputs, arguments left out at
// their defaults, a symbolic batch, and the form that trains (batch statistics,
// dropout on). Used by the zoo of room model and by tests.
//
//   Builder b("temper 0.1.0 net");
//   Value x = b.input("x", DType::kFloat32, {3, 32, 32});
//   x = b.conv2d("stem", x, {.out = 16, .kernel = 3, .padding = 1});
//   Blueprint net = b.finish(b.relu("", x));
//
// The first argument of a layer is its module's path. A layer that has weights
// registers them under it when it is added, so layers are added in the order of
// the state dict.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "temper/graph/build/fill.h"
#include "temper/graph/infer/infer.h"
#include "temper/graph/ir/graph.h"

namespace temper::graph {

// A tensor of the graph being built.
struct Value {
  std::string name;
};

struct Conv2d {
  std::int64_t out = 0;
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t padding = 0;
  std::int64_t groups = 1;
  bool bias = true;
};

struct Linear {
  std::int64_t out = 0;
  bool bias = true;
  std::optional<Fill> weight = {}; // instead of the network's rule
};

struct Pool {
  std::int64_t kernel = 2;
  std::int64_t stride = 2;
  std::int64_t padding = 0;
};

struct Attention {
  double dropout = 0;
  bool causal = false;
};

// How the layers of one network start.
struct LayerFills {
  FillRule conv_weight = uniform_fan_in;
  FillRule conv_bias = uniform_fan_in;
  FillRule linear_weight = uniform_fan_in;
  FillRule linear_bias = uniform_fan_in;
};

// A graph whose weights are still to be drawn.
struct Blueprint {
  Graph graph;
  std::map<std::string, Fill> fills; // by real name, parameters and buffers
};

class Builder {
 public:
  explicit Builder(std::string producer, LayerFills fills = {});

  // The user's input; the batch comes before `sizes`.
  Value input(
      const std::string& name,
      DType dtype,
      const std::vector<std::int64_t>& sizes);
  Value parameter(
      const std::string& target,
      const std::vector<std::int64_t>& sizes,
      const Fill& fill);

  Value conv2d(const std::string& path, const Value& x, const Conv2d& layer);
  Value linear(const std::string& path, const Value& x, const Linear& layer);
  // A linear layer without bias whose weight is somebody else's too.
  Value
  tied_linear(const std::string& path, const Value& x, const Value& weight);
  // The rows of `table` that x names.
  Value embedding(const std::string& path, const Value& x, const Value& table);
  Value batch_norm(const std::string& path, const Value& x);
  Value layer_norm(const std::string& path, const Value& x, double eps);

  Value relu(const std::string& path, const Value& x);
  // Operators with an underscore write over x, as torchvision's networks do.
  Value relu_(const std::string& path, const Value& x);
  Value relu6_(const std::string& path, const Value& x);
  Value gelu(const std::string& path, const Value& x);
  // x itself when nothing is dropped.
  Value dropout(const std::string& path, const Value& x, double p);

  Value max_pool2d(const std::string& path, const Value& x, const Pool& pool);
  // Averages each channel to one value.
  Value average_pool2d(const std::string& path, const Value& x);

  Value add(const std::string& path, const Value& a, const Value& b);
  Value add_(const std::string& path, const Value& a, const Value& b);
  Value attention(
      const std::string& path,
      const Value& query,
      const Value& key,
      const Value& value,
      const Attention& options = {});

  // Flattens every dimension from `start` on.
  Value flatten(const std::string& path, const Value& x, std::int64_t start);
  // Gives x the shape [batch, sizes...].
  Value reshape(const std::string& path, const Value& x, const Ints& sizes);
  // One row for all becomes one a sample: [1, ...] to [batch, ...].
  Value expand_batch(const std::string& path, const Value& x);
  Value permute(const std::string& path, const Value& x, const Ints& order);
  Value
  transpose(const std::string& path, const Value& x, int first, int second);
  Value select(
      const std::string& path,
      const Value& x,
      std::int64_t dim,
      std::int64_t index);
  Value cat(
      const std::string& path,
      const std::vector<Value>& parts,
      std::int64_t dim);
  // One value for each index of the first dimension.
  std::vector<Value> unbind(const std::string& path, const Value& x);

  // The sizes of one sample: without the batch.
  std::vector<std::int64_t> sizes(const Value& x) const;

  // Any operator: its arguments in the order of its schema. Trailing arguments
  // at their default belong left out.
  Value
  node(const std::string& path, const char* op, std::vector<NamedArgument> in);

  Blueprint finish(const Value& output);

 private:
  // The graph as it is for one batch; two of them give every size's formula.
  struct World {
    std::int64_t batch = 0;
    Inferred inferred;
    std::map<std::string, Ints> strides;
  };

  std::string fresh_name(const std::string& wanted);
  std::string fresh_name_for(const char* op);
  Value state(InputKind kind, const std::string& target, const Shape& shape);
  Value buffer(const std::string& target, const Shape& shape, const Fill& fill);
  Node& append(
      const std::string& path,
      const char* op,
      std::vector<NamedArgument> in,
      std::vector<Result> out);
  void learn(const Node& node);
  void describe(const std::string& name);
  NumberName batch();

  LayerFills fills_;
  Blueprint made_;
  World worlds_[2];
  std::set<std::string> names_;
  std::map<std::string, int> last_number_;
  std::string user_input_;
  std::string batch_number_;
  std::vector<Input> buffers_;
};

} // namespace temper::graph
