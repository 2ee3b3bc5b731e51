// Tied weights: several names for one tensor, such as the embedding and the
// head of a language model. In a Program they share their bytes; whoever puts
// other weights into a program does it here, so that they stay one tensor.
#pragma once

#include <string>
#include <vector>

#include "temper/graph/ir/program.h"

namespace temper::graph {

// Groups of two names or more, each in the order of the graph's inputs.
// Parameters and buffers count; empty tensors and constants do not.
std::vector<std::vector<std::string>> tied_names(const Program& program);

// Puts each tensor of `fresh` in the place of the program's own of that name.
// A tied name that is not among them follows the one that is. Error when the
// values of two tied names differ.
void replace_weights(Program& program, const Weights& fresh);

} // namespace temper::graph
