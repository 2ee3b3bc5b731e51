// Runs a graph in double with loops anybody can check: enough operators for the
// tests of passes. Views and in-place operators share memory as they do in
// PyTorch, so a pass that gets that wrong gives other numbers.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "temper/graph/ir/program.h"

namespace temper::graph {

struct Array {
  std::vector<std::int64_t> sizes;
  std::shared_ptr<std::vector<double>> data;

  std::vector<double>& values() const {
    return *data;
  }
};

Array make_array(std::vector<std::int64_t> sizes);

class Evaluation {
 public:
  Evaluation(const Program& program, const Array& x);

  std::vector<double> output() const;
  const Array& at(const std::string& value) const;
  // By real name: what a buffer holds after the run.
  const std::vector<double>& state(const std::string& target) const;

 private:
  const Graph& graph_;
  std::map<std::string, Array> values_;
};

Array random_input(std::vector<std::int64_t> sizes);
double furthest(const std::vector<double>& a, const std::vector<double>& b);

} // namespace temper::graph
