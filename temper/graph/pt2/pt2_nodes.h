// The nodes of a torch.export file, with those of its wrappers in their place:
// torch.no_grad(), torch.autocast() and others whose body runs once, without a
// condition, become ordinary nodes.
//
// In a body, names begin anew: its inputs are the values that the wrapper was
// given, and what it makes gets a free name. A wrapper's results are from then
// on known by the names that they have in its body.
// Private to graph/pt2.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "temper/graph/ir/graph.h"
#include "temper/graph/pt2/pt2_json.h"

namespace temper::graph::pt2 {

class NodeReader {
 public:
  // `graph` gets the nodes, and a description of every value. `still`: inputs
  // of the model that never have a gradient.
  NodeReader(Graph& graph, std::set<std::string> still)
      : graph_(graph), still_(std::move(still)) {}

  void read(const Json& graph_json);

  // Puts the value's name of now in the place of the file's.
  void rename(Argument& argument) const;

 private:
  struct Scope {
    std::map<std::string, std::string> names; // here, and in the whole graph
    std::optional<DType> autocast; // what matrices are multiplied in
  };
  struct Wrapper {
    const Json* body = nullptr;
    std::vector<Argument> settings;
    std::vector<std::string> operands; // "" for a constant
    bool stops_gradient() const;
    std::optional<DType> autocast() const;
    std::string op;
  };

  void describe(const Json& graph_json, const Scope& scope);
  void nodes(const Json& graph_json, Scope& scope);
  void node(const Json& json, Scope& scope);
  static Wrapper
  read_wrapper(const Json& json, const Node& about, const Scope& scope);
  void inline_body(const Wrapper& wrapper, const Node& about, Scope& scope);
  Scope enter(const Json& body, const std::vector<std::string>& given);
  void cast_arguments(Node& node, DType low);
  std::string copy_of(
      const std::string& value,
      const char* op,
      std::optional<DType> type,
      const Node& about);
  std::string free_name(const std::string& wanted);
  // The value that an in-place operator changed, of what it gave back.
  std::string changed(std::string value) const;

  Graph& graph_;
  std::set<std::string> still_;
  std::set<std::string> taken_;
  Scope whole_;
};

} // namespace temper::graph::pt2
