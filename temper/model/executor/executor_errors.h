// The message for a person when a node fails: which module, which of their own
// lines, which operator, which shapes.
// Private to model.
#pragma once

#include <string>
#include <vector>

#include "temper/graph/ir/graph.h"
#include "temper/model/executor/executor_frame.h"

namespace temper::model {

// "aten.conv2d.default of features.0.0 (net.py:27)".
std::string node_text(const graph::Node& node);

// Called in a catch block: throws on what was caught, as an Error that names
// the node and the tensors it was given. What asks for another reaction than
// reading keeps its type: lack of memory, our own errors, and whatever is no
// std::exception.
[[noreturn]] void rethrow_of_node(
    const graph::Node& node,
    const std::vector<at::Tensor>& given);

// The operator is in no table and not in this LibTorch.
[[noreturn]] void refuse_operator(const graph::Node& node);

} // namespace temper::model
