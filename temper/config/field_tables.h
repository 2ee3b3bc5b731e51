// The parts of the table of keys, joined by fields.cpp, and the way from a key
// to its place in a config.
#pragma once

#include <vector>

#include "temper/config/fields.h"

namespace temper::config {

constexpr double kMost = 1e15; // of counts that have no limit

// The place of a key in a config: in<&Config::train, &Train::batch> in a
// section, top<&Config::seed> outside of any.
template <auto Member>
Slot top(Config& config) {
  return &(config.*Member);
}
template <auto Section, auto Member>
Slot in(Config& config) {
  return &(config.*Section.*Member);
}

// Fields that say what is trained, on what data and how.
std::vector<Field> training_fields();
// How the run is planned, kept alive and told about.
std::vector<Field> keeping_fields();

} // namespace temper::config
