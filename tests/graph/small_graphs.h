// Small networks for the tests of passes, with weights that are all different,
// and what those tests ask again and again.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "temper/base/error.h"
#include "temper/graph/build/builder.h"
#include "temper/graph/ir/elements.h"
#include "temper/graph/ir/program.h"
#include "temper/graph/op/effects.h"
#include "temper/graph/pass/passes.h"

namespace temper::graph {

// Variances are positive, counters stay whole.
Program with_weights(const Graph& graph);

// conv - bn - relu_, a residual block with a short cut, pool, dropout, linear:
// every name as torchvision would have it.
Program residual_net();

Node simple_node(
    const std::string& op,
    std::vector<NamedArgument> inputs,
    const std::string& made,
    const std::string& module = "");

TensorMeta shape(std::vector<std::int64_t> sizes);

// Nodes written out by hand over inputs x (the user's), with every tensor
// [2, 3], in the order they are given.
Program by_hand(
    std::vector<Node> nodes,
    const std::string& output,
    std::vector<Input> inputs = {});

// Byte for byte.
bool same_weights(const Weights& a, const Weights& b);

bool same(const Program& a, const Program& b);

// A copy that shares no bytes, so that writing over shared ones would show.
Program deep_copy(const Program& program);

// Checks that hold of every pass: the result validates, the argument is as it
// was, the report is one line.
Passed checked(
    const std::function<Passed(const Program&)>& pass,
    const Program& program);

std::vector<const Node*> nodes_of(const Graph& graph, const std::string& op);

// The message, then the hint.
std::string refusal_of(const std::function<void()>& action);

} // namespace temper::graph
