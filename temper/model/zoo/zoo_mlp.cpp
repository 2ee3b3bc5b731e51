// Dense layers with ReLU between them, as many and as wide as asked for.
#include "temper/base/text.h"
#include "temper/model/zoo/zoo_families.h"

namespace temper::model {

graph::Blueprint mlp(const ZooSettings& settings) {
  graph::Builder b = start(settings);
  graph::Value x;
  if (!settings.shape.empty()) {
    x = b.input("x", graph::DType::kFloat32, settings.shape);
    if (settings.shape.size() > 1) x = b.flatten("flatten", x, 1);
  } else if (settings.image_size == 1)
    x = b.input("x", graph::DType::kFloat32, {settings.channels});
  else
    x = b.flatten("flatten", image_input(b, settings), 1);
  for (std::size_t i = 0; i < settings.widths.size(); ++i) {
    x = b.linear(cat("hidden.", i), x, {.out = settings.widths[i]});
    x = b.relu("relu", x);
    x = b.dropout("dropout", x, settings.dropout);
  }
  x = b.linear("head", x, {.out = settings.classes});
  return b.finish(x);
}

} // namespace temper::model
