// Passes: pure functions from program to program. Each says in one line what it
// did ("froze 159 of 161 parameters"), leaves its argument alone, and gives a
// graph that validates. One .cpp file per pass.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "temper/graph/ir/program.h"

namespace temper::graph {

struct Passed {
  Program program;
  std::string report;
};

// Dropout on or off, BatchNorm over the batch or over its running statistics,
// counters of batches kept or dropped; whichever mode the file was exported in.
Passed switch_mode(const Program& program, bool training);

// Parameters whose real name matches one of the patterns ("features.*", "*")
// keep their value. Error, with the nearest names, when a pattern hits none.
Passed freeze(const Program& program, const std::vector<std::string>& patterns);

// BatchNorms that have a name matching one of the patterns use their running
// statistics and leave them alone, even in training: freeze() by itself does as
// PyTorch does, where they still move. Comes after switch_mode, which would
// wake them.
Passed freeze_statistics(
    const Program& program,
    const std::vector<std::string>& patterns);

// The graph cut at a value: `prefix` computes it from the inputs, `rest` takes
// it as its input. Each has the parameters it uses.
struct Split {
  Program prefix;
  Program rest;
  std::string report;
};
Split split_at(const Program& program, const std::string& value);
// Where the frozen part ends: the last value that no trainable parameter and no
// randomness or batch statistics has touched, and all later nodes read. Empty
// when there is none.
std::string frozen_frontier(const Graph& graph);

// Changes the number of classes: the last linear layer (or 1x1 convolution)
// gets fresh weights of that many rows, and every shape after it follows.
Passed
replace_head(const Program& program, std::int64_t classes, std::uint64_t seed);

// BatchNorm of an eval graph multiplied into the convolution or linear before
// it, where nobody else reads that value.
Passed fold_batch_norm(const Program& program);

// Nodes whose results nobody reads, with the inputs only they read. What
// changes a buffer is read by the buffer.
Passed remove_dead(const Program& program);

// Marks nodes to be computed again in the backward pass: the modules whose path
// matches a pattern ("layer*.*"), one segment a module.
Passed mark_recompute(
    const Program& program,
    const std::vector<std::string>& patterns);

// The same, with the modules chosen by the forecast: the level of the module
// tree that leaves the lowest peak at this batch. Unmarked when none does.
Passed choose_recompute(const Program& program, std::int64_t batch);

// The batch that an export without dynamic_shapes has; 0 when it has none, or
// its inputs have different ones.
std::int64_t fixed_batch(const Graph& graph);

// A model that was exported for one batch, for any batch: no value when
// something in its graph may depend on the number.
std::optional<Program> free_batch(const Program& program);

// "features.*" against "features.0.weight": * stands for any text.
bool matches(const std::string& pattern, const std::string& name);

} // namespace temper::graph
