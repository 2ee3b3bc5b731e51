// Small changes to a graph that the passes share: arguments, values, inputs.
// Each leaves the tables of tensors and numbers as they should be or says so.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "temper/graph/ir/program.h"

namespace temper::graph {

// Sets the argument, which is there already or goes after `after` (at the end
// when that is not there either, and then by keyword).
void set_argument(
    Node& node,
    const std::string& name,
    Argument value,
    const std::string& after);
void erase_argument(Node& node, const std::string& name);

// Everyone who reads `from`, the graph's outputs included, reads `to`.
void replace_value(
    Graph& graph,
    const std::string& from,
    const std::string& to);

// "add_", then "add__1", "add__2": the first that no value has.
std::string free_name(const Graph& graph, const std::string& wanted);

// How many nodes and outputs read each value.
std::map<std::string, int> reader_counts(const Graph& graph);

// The node that makes the value; null for inputs.
const Node* maker_of(const Graph& graph, const std::string& value);
Node* maker_of(Graph& graph, const std::string& value);

// The input of that value; null when a node makes it.
const Input* find_input(const Graph& graph, const std::string& value);
Input* find_input(Graph& graph, const std::string& value);

// The input and its bytes.
void remove_input(Program& program, const std::string& value);

// Shapes of values that are gone.
void forget_unmade(Graph& graph);

// "features.0" of "features.0.weight"; empty at the top.
std::string parent_path(const std::string& target);

// The name of the graph's value for a real name: "p_fc_weight".
std::string value_name(InputKind kind, const std::string& target);

} // namespace temper::graph
