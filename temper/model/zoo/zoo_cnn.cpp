// The smallest convolutional network that does something: 32 filters of 3x3,
// the larger of each 2x2, and one dense layer. The first example of many
// courses.
#include "temper/model/zoo/zoo_families.h"

namespace temper::model {

graph::Blueprint cnn(const ZooSettings& settings) {
  graph::Builder b = start(settings);
  graph::Value x = image_input(b, settings);
  x = b.conv2d("conv", x, {.out = scaled(32, settings.width), .kernel = 3});
  x = b.relu("relu", x);
  x = b.max_pool2d("pool", x, {.kernel = 2, .stride = 2});
  x = b.flatten("flatten", x, 1);
  x = b.dropout("dropout", x, settings.dropout);
  x = b.linear("fc", x, {.out = settings.classes});
  return b.finish(x);
}

} // namespace temper::model
