#include "temper/graph/build/builder.h"
#include "temper/graph/pt2/pt2.h"
#include "temper/model/zoo/init.h"
#include "training.h"

namespace temper::torture {

void write_small_network(const std::filesystem::path& path) {
  graph::Builder b("temper torture");
  graph::Value x = b.input("x", graph::DType::kFloat32, {3, 8, 8});
  x = b.conv2d("conv", x, {.out = 6, .kernel = 3, .padding = 1, .bias = false});
  x = b.batch_norm("bn", x);
  x = b.relu("relu", x);
  x = b.max_pool2d("pool", x, {.kernel = 2, .stride = 2});
  x = b.flatten("flatten", x, 1);
  x = b.dropout("dropout", x, 0.3);
  x = b.linear("fc", x, {.out = 4});
  graph::write_pt2(model::initialise(b.finish(x), 7), path);
}

void write_tied_network(const std::filesystem::path& path) {
  graph::Builder b("temper torture");
  graph::Value x = b.input("x", graph::DType::kFloat32, {3, 8, 8});
  x = b.conv2d("conv", x, {.out = 6, .kernel = 3, .padding = 1});
  for (const std::string name : {"again", "and_again"}) {
    x = b.conv2d(name, x, {.out = 6, .kernel = 3, .padding = 1});
    x = b.relu("", b.batch_norm(name + "_norm", x));
  }
  x = b.flatten("flatten", x, 1);
  x = b.dropout("dropout", x, 0.3);
  x = b.linear("fc", x, {.out = 4});
  graph::Program net = model::initialise(b.finish(x), 7);
  net.weights["and_again.weight"] = net.weights.at("again.weight");
  graph::write_pt2(net, path);
}

} // namespace temper::torture
