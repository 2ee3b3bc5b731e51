#include "evaluate.h"

#include <cmath>

#include "temper/base/error.h"
#include "temper/base/random/philox.h"
#include "temper/base/text.h"
#include "temper/graph/ir/elements.h"
#include "temper/graph/ir/node_arguments.h"
#include "temper/graph/ir/op_name.h"
#include "temper/graph/op/effects.h"
#include "temper/graph/pass/edit.h"

namespace temper::graph {
namespace {

using Arrays = std::map<std::string, Array>;

class Runner {
 public:
  explicit Runner(Arrays& values) : values_(values) {}

  void run(const Node& node) {
    const std::string op(op_name(node.op).spelled);
    if (op == "sym_size") return; // shapes come from the arrays
    values_[values_made(node).front()] = result(op, node);
  }

 private:
  const Array& argument(const Node& node, const char* name) const {
    return values_.at(NodeArguments(node).tensor_name(name));
  }
  bool has(const Node& node, const char* name) const {
    return !NodeArguments(node).tensor_name(name).empty();
  }

  Array result(const std::string& op, const Node& node) const {
    const Array& x = values_.at(NodeArguments(node).subject());
    if (op == "conv2d") return convolved(node);
    if (op == "linear") return multiplied(node);
    if (op == "batch_norm") return normalised(node);
    if (op == "relu") return each(x, [](double v) { return std::fmax(v, 0); });
    if (op == "relu_")
      return each_in_place(x, [](double v) { return std::fmax(v, 0); });
    if (op == "clone" || op == "to") return x;
    if (op == "permute") return permuted(x, std::get<Ints>(*node.find("dims")));
    if (op == "softmax") return soft_maximum(x);
    if (op == "sigmoid")
      return each(x, [](double v) { return 1 / (1 + std::exp(-v)); });
    if (op == "exp") return each(x, [](double v) { return std::exp(v); });
    if (op == "isnan")
      return each(x, [](double v) { return std::isnan(v) ? 1 : 0; });
    if (op == "where") return chosen(node);
    if (op == "sub" || op == "div" || (op == "mul" && has(node, "other")))
      return with_other(op, node);
    if (op == "mul")
      return each(x, [&](double v) {
        return v * NodeArguments(node).real("other", 1);
      });
    if (op == "add" || op == "add_") return added(op == "add_", node);
    if (op == "dropout") {
      check(
          !NodeArguments(node).flag("train", false),
          "the tests' evaluator draws nothing");
      return x;
    }
    if (op == "flatten") {
      Array flat = x;
      flat.sizes = {
          x.sizes[0],
          static_cast<std::int64_t>(x.values().size()) / x.sizes[0]};
      return flat;
    }
    if (op == "adaptive_avg_pool2d") return pooled(x);
    throw Error(cat("the tests' evaluator lacks ", node.op));
  }

  template <class Function>
  static Array each_in_place(const Array& x, const Function& function) {
    for (double& value : x.values())
      value = function(value);
    return x;
  }
  template <class Function>
  static Array each(const Array& x, const Function& function) {
    Array made = make_array(x.sizes);
    made.values() = x.values();
    return each_in_place(made, function);
  }

  Array added(bool in_place, const Node& node) const {
    const Array& x = values_.at(NodeArguments(node).subject());
    const double step = NodeArguments(node).real("other", 0);
    Array made = in_place ? x : each(x, [](double v) { return v; });
    for (std::size_t i = 0; i < made.values().size(); ++i)
      made.values()[i] += has(node, "other")
          ? spread(argument(node, "other"), made.sizes, i)
          : step;
    return made;
  }

  // The element of `small` that goes with element `at` of a tensor of `sizes`.
  static double spread(
      const Array& small,
      const std::vector<std::int64_t>& sizes,
      std::size_t at) {
    std::size_t place = 0;
    std::size_t step = 1;
    for (std::size_t back = 1; back <= small.sizes.size(); ++back) {
      const auto whole = static_cast<std::size_t>(sizes[sizes.size() - back]);
      const auto part =
          static_cast<std::size_t>(small.sizes[small.sizes.size() - back]);
      if (part != 1) place += at % whole * step;
      step *= part;
      at /= whole;
    }
    return small.values()[place];
  }

  Array with_other(const std::string& op, const Node& node) const {
    const Array& x = values_.at(NodeArguments(node).subject());
    Array made = make_array(x.sizes);
    for (std::size_t i = 0; i < made.values().size(); ++i) {
      const double other = has(node, "other")
          ? spread(argument(node, "other"), x.sizes, i)
          : NodeArguments(node).real("other", 1);
      const double value = x.values()[i];
      made.values()[i] = op == "sub" ? value - other
          : op == "div"              ? value / other
                                     : value * other;
    }
    return made;
  }

  // "self", spread over the others, where the condition holds.
  Array chosen(const Node& node) const {
    const Array& condition = argument(node, "condition");
    const Array& other = argument(node, "other");
    Array made = make_array(other.sizes);
    for (std::size_t i = 0; i < made.values().size(); ++i)
      made.values()[i] = condition.values()[i] != 0
          ? spread(argument(node, "self"), other.sizes, i)
          : other.values()[i];
    return made;
  }

  static Array permuted(const Array& x, const Ints& dims) {
    std::vector<std::int64_t> sizes;
    for (const std::int64_t dim : dims)
      sizes.push_back(x.sizes[static_cast<std::size_t>(dim)]);
    Array made = make_array(sizes);
    for (std::size_t i = 0; i < made.values().size(); ++i) {
      std::vector<std::size_t> index(dims.size());
      std::size_t rest = i;
      for (std::size_t d = dims.size(); d-- > 0;) {
        const auto size = static_cast<std::size_t>(sizes[d]);
        index[static_cast<std::size_t>(dims[d])] = rest % size;
        rest /= size;
      }
      std::size_t from = 0;
      for (std::size_t d = 0; d < index.size(); ++d)
        from = from * static_cast<std::size_t>(x.sizes[d]) + index[d];
      made.values()[i] = x.values()[from];
    }
    return made;
  }

  // Over the last dimension of two.
  static Array soft_maximum(const Array& x) {
    Array made = each(x, [](double v) { return std::exp(v); });
    const auto classes = static_cast<std::size_t>(x.sizes.at(1));
    for (std::size_t row = 0; row < made.values().size(); row += classes) {
      double sum = 0;
      for (std::size_t i = 0; i < classes; ++i)
        sum += made.values()[row + i];
      for (std::size_t i = 0; i < classes; ++i)
        made.values()[row + i] /= sum;
    }
    return made;
  }

  Array multiplied(const Node& node) const {
    const Array& x = argument(node, "input");
    const Array& w = argument(node, "weight");
    const auto inputs = static_cast<std::size_t>(w.sizes[1]);
    const auto outputs = static_cast<std::size_t>(w.sizes[0]);
    std::vector<std::int64_t> sizes = x.sizes;
    sizes.back() = w.sizes[0];
    Array made = make_array(sizes);
    for (std::size_t i = 0; i < made.values().size(); ++i) {
      const std::size_t o = i % outputs;
      double sum = has(node, "bias") ? argument(node, "bias").values()[o] : 0;
      for (std::size_t k = 0; k < inputs; ++k)
        sum +=
            x.values()[i / outputs * inputs + k] * w.values()[o * inputs + k];
      made.values()[i] = sum;
    }
    return made;
  }

  static std::int64_t first(const Node& node, const char* name, int fallback) {
    const Argument* argument = node.find(name);
    const auto* list =
        argument == nullptr ? nullptr : std::get_if<Ints>(argument);
    return list == nullptr ? fallback : list->front();
  }

  Array convolved(const Node& node) const {
    const Array& x = argument(node, "input");
    const Array& w = argument(node, "weight");
    const std::int64_t stride = first(node, "stride", 1);
    const std::int64_t padding = first(node, "padding", 0);
    const auto groups =
        static_cast<std::int64_t>(NodeArguments(node).real("groups", 1));
    const std::int64_t per_group = w.sizes[1];
    const std::int64_t kernel = w.sizes[2];
    const auto out = [&](std::int64_t size) {
      return (size + 2 * padding - kernel) / stride + 1;
    };
    Array made =
        make_array({x.sizes[0], w.sizes[0], out(x.sizes[2]), out(x.sizes[3])});
    std::size_t at = 0;
    for (std::int64_t n = 0; n < made.sizes[0]; ++n)
      for (std::int64_t o = 0; o < made.sizes[1]; ++o)
        for (std::int64_t row = 0; row < made.sizes[2]; ++row)
          for (std::int64_t col = 0; col < made.sizes[3]; ++col) {
            double sum = has(node, "bias")
                ? argument(node, "bias").values()[static_cast<std::size_t>(o)]
                : 0;
            const std::int64_t from = o / (w.sizes[0] / groups) * per_group;
            for (std::int64_t c = 0; c < per_group; ++c)
              for (std::int64_t i = 0; i < kernel; ++i)
                for (std::int64_t j = 0; j < kernel; ++j)
                  sum += pixel(
                             x,
                             n,
                             from + c,
                             row * stride + i - padding,
                             col * stride + j - padding) *
                      pixel(w, o, c, i, j);
            made.values()[at++] = sum;
          }
    return made;
  }

  static double pixel(
      const Array& x,
      std::int64_t n,
      std::int64_t c,
      std::int64_t row,
      std::int64_t col) {
    if (row < 0 || col < 0 || row >= x.sizes[2] || col >= x.sizes[3]) return 0;
    return x.values()[static_cast<std::size_t>(
        ((n * x.sizes[1] + c) * x.sizes[2] + row) * x.sizes[3] + col)];
  }

  Array normalised(const Node& node) const {
    const Array& x = argument(node, "input");
    const bool training = NodeArguments(node).flag("training", false);
    Array made = make_array(x.sizes);
    const auto channels = static_cast<std::size_t>(x.sizes[1]);
    const auto batch = static_cast<std::size_t>(x.sizes[0]);
    const std::size_t plane = x.values().size() / channels / batch;
    for (std::size_t c = 0; c < channels; ++c) {
      const auto visit = [&](const auto& function) {
        for (std::size_t n = 0; n < batch; ++n)
          for (std::size_t i = 0; i < plane; ++i)
            function((n * channels + c) * plane + i);
      };
      double mean = argument(node, "running_mean").values()[c];
      double var = argument(node, "running_var").values()[c];
      if (training) {
        const auto count = static_cast<double>(batch * plane);
        mean = var = 0;
        visit([&](std::size_t i) { mean += x.values()[i] / count; });
        visit([&](std::size_t i) {
          var += (x.values()[i] - mean) * (x.values()[i] - mean) / count;
        });
        const double momentum = NodeArguments(node).real("momentum", 0.1);
        double& old_mean = argument(node, "running_mean").values()[c];
        double& old_var = argument(node, "running_var").values()[c];
        old_mean += momentum * (mean - old_mean);
        old_var += momentum * (var * count / (count - 1) - old_var);
      }
      const double gamma =
          has(node, "weight") ? argument(node, "weight").values()[c] : 1;
      const double beta =
          has(node, "bias") ? argument(node, "bias").values()[c] : 0;
      const double scale =
          gamma / std::sqrt(var + NodeArguments(node).real("eps", 0));
      visit([&](std::size_t i) {
        made.values()[i] = (x.values()[i] - mean) * scale + beta;
      });
    }
    return made;
  }

  static Array pooled(const Array& x) {
    Array made = make_array({x.sizes[0], x.sizes[1], 1, 1});
    const std::size_t plane = x.values().size() / made.values().size();
    for (std::size_t i = 0; i < x.values().size(); ++i)
      made.values()[i / plane] += x.values()[i] / static_cast<double>(plane);
    return made;
  }

  Arrays& values_;
};

} // namespace

Array make_array(std::vector<std::int64_t> sizes) {
  const auto count = static_cast<std::size_t>(element_count(sizes));
  return {std::move(sizes), std::make_shared<std::vector<double>>(count)};
}

Evaluation::Evaluation(const Program& program, const Array& x)
    : graph_(program.graph) {
  for (const Input& input : graph_.inputs) {
    if (input.kind == InputKind::kUser) {
      values_[input.value] = x;
      continue;
    }
    const TensorData& tensor = program.weights.at(input.target);
    Array array = make_array(tensor.sizes);
    if (is_floating(tensor.dtype)) array.values() = elements_of(tensor);
    values_[input.value] = array;
  }
  Runner runner(values_);
  for (const Node& node : graph_.nodes)
    runner.run(node);
}

std::vector<double> Evaluation::output() const {
  for (const Output& output : graph_.outputs)
    if (output.kind == OutputKind::kUser)
      return values_.at(std::get<TensorName>(output.value).name).values();
  return {};
}

const Array& Evaluation::at(const std::string& value) const {
  return values_.at(value);
}

const std::vector<double>& Evaluation::state(const std::string& target) const {
  return values_.at(graph_.find_target(target)->value).values();
}

Array random_input(std::vector<std::int64_t> sizes) {
  Array array = make_array(std::move(sizes));
  RandomStream random(7, 0, 0);
  for (double& value : array.values())
    value = random.uniform(-2, 2);
  return array;
}

double furthest(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return INFINITY;
  double far = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    far = std::fmax(far, std::fabs(a[i] - b[i]));
  return far;
}

} // namespace temper::graph
