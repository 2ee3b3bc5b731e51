#include "temper/model/zoo/zoo_families.h"

#include <algorithm>

#include "temper/base/text.h"

namespace temper::model {

using graph::Builder;
using graph::Value;

Builder start(const ZooSettings& settings, graph::LayerFills fills) {
  return Builder(cat("temper ", settings.name), fills);
}

Value image_input(Builder& b, const ZooSettings& settings) {
  return b.input(
      "x",
      graph::DType::kFloat32,
      {settings.channels, settings.image_size, settings.image_size});
}

std::int64_t scaled(std::int64_t channels, double width) {
  constexpr std::int64_t kStep = 8;
  const double wanted = static_cast<double>(channels) * width;
  const std::int64_t nearest =
      static_cast<std::int64_t>(wanted + kStep / 2.0) / kStep * kStep;
  const std::int64_t rounded = std::max(kStep, nearest);
  return static_cast<double>(rounded) < 0.9 * wanted ? rounded + kStep
                                                     : rounded;
}

Value attend(
    Builder& b,
    const std::string& path,
    const Value& queries_keys_values,
    std::int64_t heads,
    const graph::Attention& options) {
  const std::int64_t places = b.sizes(queries_keys_values).at(0);
  const std::int64_t features = b.sizes(queries_keys_values).at(1) / 3;
  Value x = b.reshape(
      path, queries_keys_values, {places, 3, heads, features / heads});
  x = b.permute(path, x, {2, 0, 3, 1, 4}); // 3, batch, heads, places, features
  const std::vector<Value> parts = b.unbind(path, x);
  x = b.attention(path, parts.at(0), parts.at(1), parts.at(2), options);
  x = b.transpose(path, x, 1, 2);
  return b.reshape(path, x, {places, features});
}

} // namespace temper::model
