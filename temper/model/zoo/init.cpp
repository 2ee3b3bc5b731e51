#include "temper/model/zoo/init.h"

#include <cmath>
#include <utility>

#include "temper/base/error.h"
#include "temper/base/text.h"

namespace temper::model {
namespace {

using Sizes = std::vector<std::int64_t>;

constexpr std::int64_t kMostElements = std::int64_t{1} << 32;

Sizes fixed_sizes(const graph::TensorMeta& meta) {
  Sizes sizes;
  for (const graph::Size& size : meta.sizes)
    sizes.push_back(size.value);
  return sizes;
}

void check_room(const graph::Graph& graph) {
  std::int64_t elements = 0;
  for (const graph::Input& input : graph.inputs) {
    if (input.kind == graph::InputKind::kUser) continue;
    const std::int64_t more =
        graph::element_count(fixed_sizes(graph.meta(input.value)));
    if (more > kMostElements - elements)
      throw Error(
          cat("[model] the network is too large: with ",
              input.target,
              " it has more than ",
              count_text(kMostElements),
              " weights."),
          "Make it narrower, or the images smaller.");
    elements += more;
  }
}

} // namespace

graph::Fill kaiming_normal_fan_out(const Sizes& sizes) {
  return graph::normal(
      std::sqrt(2.0 / static_cast<double>(graph::fan_out(sizes))));
}

graph::LayerFills resnet_fills() {
  graph::LayerFills fills;
  fills.conv_weight = kaiming_normal_fan_out;
  return fills;
}

graph::LayerFills mobilenet_fills() {
  graph::LayerFills fills = resnet_fills();
  fills.linear_weight = [](const Sizes&) { return graph::normal(0.01); };
  fills.linear_bias = graph::zeros;
  return fills;
}

graph::Fill vit_normal() {
  return graph::truncated_normal(0.02, 2);
}

graph::LayerFills vit_fills() {
  graph::LayerFills fills;
  fills.linear_weight = [](const Sizes&) { return vit_normal(); };
  fills.linear_bias = graph::zeros;
  return fills;
}

graph::Fill gpt_normal() {
  return graph::normal(0.02);
}

graph::LayerFills gpt_fills() {
  graph::LayerFills fills;
  fills.linear_weight = [](const Sizes&) { return gpt_normal(); };
  fills.linear_bias = graph::zeros;
  return fills;
}

graph::Fill gpt_residual(std::int64_t layers) {
  return graph::normal(0.02 / std::sqrt(2.0 * static_cast<double>(layers)));
}

graph::Program initialise(graph::Blueprint blueprint, std::uint64_t seed) {
  check_room(blueprint.graph);
  graph::Program program;
  program.graph = std::move(blueprint.graph);
  for (const graph::Input& input : program.graph.inputs) {
    if (input.kind == graph::InputKind::kUser) continue;
    const graph::TensorMeta& meta = program.graph.meta(input.value);
    program.weights[input.target] = graph::draw(
        blueprint.fills.at(input.target),
        meta.dtype,
        fixed_sizes(meta),
        seed,
        input.target);
  }
  return program;
}

} // namespace temper::model
