// A source of a program's own: two spirals that turn around each other.
#pragma once

#include <cmath>
#include <memory>
#include <string>

#include "temper/data/sample/source.h"

namespace temper::tests {

class Spirals : public data::IndexedSource {
 public:
  Spirals(std::int64_t samples, std::string name = "spirals")
      : samples_(samples) {
    info_.name = std::move(name);
    info_.input = data::Input::numbers;
    info_.target = data::Target::label;
    info_.shape = {2};
    info_.classes = {"left", "right"};
  }
  const data::SourceInfo& info() const override {
    return info_;
  }
  std::int64_t size() const override {
    return samples_;
  }
  void read(std::int64_t index, data::Sample& sample) const override {
    sample.label = index % 2;
    const double turn = static_cast<double>(index) / 20.0;
    const double side = index % 2 == 0 ? 1 : -1;
    sample.numbers = {
        static_cast<float>(side * turn * std::cos(turn)),
        static_cast<float>(side * turn * std::sin(turn))};
  }
  std::optional<std::int64_t> label(std::int64_t index) const override {
    return index % 2;
  }

 private:
  data::SourceInfo info_;
  std::int64_t samples_;
};

} // namespace temper::tests
