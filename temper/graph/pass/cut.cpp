#include "temper/graph/pass/cut.h"

#include <algorithm>
#include <set>

#include "temper/base/text.h"
#include "temper/graph/ir/node_arguments.h"
#include "temper/graph/ir/op_name.h"
#include "temper/graph/pass/edit.h"

namespace temper::graph {
namespace {

using Names = std::set<std::string>;

std::vector<bool> ancestors(const Dependencies& dependencies, int last) {
  std::vector<bool> found(static_cast<std::size_t>(last) + 1, false);
  found.back() = true;
  for (int i = last; i >= 0; --i)
    if (found[static_cast<std::size_t>(i)])
      for (const int needed : dependencies.of(i))
        found[static_cast<std::size_t>(needed)] = true;
  return found;
}

// A node beside the way to the value (a batch counter) goes with the part it
// stands in, provided that it only moves state: nobody reads what it makes.
bool only_moves_state(const Dependencies& dependencies, const Node& node) {
  const auto is_state = [&](const std::string& value) {
    const Input* input = dependencies.input(value);
    return input != nullptr && input->kind != InputKind::kUser;
  };
  const std::vector<std::string> made = values_made(node);
  const std::vector<std::string> written = values_written(node);
  const bool in_place = !written.empty() &&
      std::all_of(written.begin(), written.end(), is_state) &&
      std::all_of(made.begin(), made.end(), [&](const std::string& value) {
        return dependencies.readers(value) == 0;
      });
  if (in_place) return true;
  const std::vector<std::string> read = values_read(node);
  return !made.empty() && std::all_of(read.begin(), read.end(), is_state) &&
      std::all_of(made.begin(), made.end(), [&](const std::string& value) {
        return dependencies.only_stored(value);
      });
}

class Cutter {
 public:
  Cutter(
      const Graph& graph,
      const Dependencies& dependencies,
      const std::string& value)
      : graph_(graph), dependencies_(dependencies), value_(value) {}

  Cut run() {
    const int last = dependencies_.maker(value_);
    assign(last);
    refuse_changes();
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i)
      if (!cut_.in_prefix[i] && cut_.refusal.empty()) take(graph_.nodes[i]);
    if (!cut_.refusal.empty()) return std::move(cut_);
    refuse_outputs();
    refuse_shared_state();
    cut_.rest.insert(cut_.rest.begin(), numbers_.begin(), numbers_.end());
    return std::move(cut_);
  }

 private:
  void refuse(const std::string& why) {
    if (cut_.refusal.empty()) cut_.refusal = why;
  }

  void assign(int last) {
    cut_.in_prefix = ancestors(dependencies_, last);
    cut_.in_prefix.resize(graph_.nodes.size(), false);
    for (int i = 0; i < last; ++i) {
      const auto at = static_cast<std::size_t>(i);
      if (!cut_.in_prefix[at])
        cut_.in_prefix[at] = only_moves_state(dependencies_, graph_.nodes[at]);
    }
  }

  // A later part that writes over its own input would spoil it for whoever
  // keeps it.
  void refuse_changes() {
    const std::string memory = dependencies_.memory().owner(value_);
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (cut_.in_prefix[i]) continue;
      for (const std::string& written : values_written(graph_.nodes[i]))
        if (dependencies_.memory().owner(written) == memory)
          refuse(cat(describe(graph_.nodes[i]), " changes it in place"));
    }
  }

  bool at_hand(const std::string& value) const {
    if (value == value_ || known_.count(value) > 0) return true;
    const int maker = dependencies_.maker(value);
    if (maker >= 0) return !cut_.in_prefix[static_cast<std::size_t>(maker)];
    const Input* input = dependencies_.input(value);
    return input != nullptr && input->kind != InputKind::kUser;
  }

  void take(const Node& node) {
    Node copy = node;
    const std::string subject = NodeArguments(node).subject();
    if (op_name(node.op).name == "sym_size" && !at_hand(subject) &&
        !read_off(copy)) {
      refuse(
          cat("the size that ", describe(node), " reads is none of its own"));
      return;
    }
    for (const std::string& value : values_read(copy)) {
      if (at_hand(value)) continue;
      if (graph_.numbers.count(value) == 0 || !bring(value)) {
        refuse(cat(describe(node), " also reads ", value));
        return;
      }
    }
    cut_.rest.push_back(std::move(copy));
  }

  // sym_size of another tensor becomes sym_size of the value, where a
  // dimension of it is the same expression.
  bool read_off(Node& node) const {
    const Size& wanted = graph_.numbers.at(values_made(node).front());
    const Sizes& sizes = graph_.meta(value_).sizes;
    const auto found = std::find(sizes.begin(), sizes.end(), wanted);
    if (found == sizes.end()) return false;
    set_argument(node, "self", TensorName{value_}, "");
    set_argument(
        node, "dim", static_cast<std::int64_t>(found - sizes.begin()), "self");
    return true;
  }

  // The number is made again in the second part.
  bool bring(const std::string& number) {
    const int maker = dependencies_.maker(number);
    if (maker < 0) return false;
    Node node = graph_.nodes[static_cast<std::size_t>(maker)];
    if (op_name(node.op).name == "sym_size") {
      if (NodeArguments(node).subject() != value_ && !read_off(node))
        return false;
    } else {
      for (const std::string& value : values_read(node))
        if (!at_hand(value) &&
            (graph_.numbers.count(value) == 0 || !bring(value)))
          return false;
    }
    known_.insert(number);
    numbers_.push_back(std::move(node));
    return true;
  }

  void refuse_outputs() {
    for (const Output& output : graph_.outputs)
      for (const std::string& value : tensors_in(output.value))
        if (output.kind == OutputKind::kUser && !at_hand(value))
          refuse(cat("the model's output ", value, " is made before it"));
  }

  // A buffer that one part moves and the other reads.
  void refuse_shared_state() {
    Names read[2];
    Names written[2];
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const int part = cut_.in_prefix[i] ? 0 : 1;
      const Node& node = graph_.nodes[i];
      for (const std::string& value : values_read(node))
        read[part].insert(dependencies_.memory().owner(value));
      for (const std::string& value : values_written(node))
        written[part].insert(dependencies_.memory().owner(value));
    }
    for (int part = 0; part < 2; ++part)
      for (const std::string& value : written[part]) {
        const Input* input = dependencies_.input(value);
        if (input != nullptr && read[1 - part].count(value) > 0)
          refuse(
              cat(input->target, " is changed on one side and read on both"));
      }
  }

  const Graph& graph_;
  const Dependencies& dependencies_;
  const std::string& value_;
  Cut cut_;
  Names known_; // numbers brought over
  std::vector<Node> numbers_;
};

} // namespace

Dependencies::Dependencies(const Graph& graph)
    : memory_(graph), readers_(reader_counts(graph)) {
  for (const Input& input : graph.inputs)
    inputs_[input.value] = &input;
  for (const Output& output : graph.outputs)
    for (const std::string& value : tensors_in(output.value))
      if (output.kind == OutputKind::kBufferMutation && readers_[value] == 1)
        stored_.insert(value);
  std::map<std::string, std::vector<int>> writers; // by memory
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    std::set<int> needs;
    for (const std::string& value : values_read(node)) {
      if (const int maker = this->maker(value); maker >= 0) needs.insert(maker);
      const auto found = writers.find(memory_.owner(value));
      if (found != writers.end())
        needs.insert(found->second.begin(), found->second.end());
    }
    for (const std::string& value : values_written(node))
      writers[memory_.owner(value)].push_back(static_cast<int>(i));
    for (const std::string& value : values_made(node))
      makers_[value] = static_cast<int>(i);
    needs_.emplace_back(needs.begin(), needs.end());
  }
}

int Dependencies::maker(const std::string& value) const {
  const auto found = makers_.find(value);
  return found == makers_.end() ? -1 : found->second;
}

const Input* Dependencies::input(const std::string& value) const {
  const auto found = inputs_.find(value);
  return found == inputs_.end() ? nullptr : found->second;
}

int Dependencies::readers(const std::string& value) const {
  const auto found = readers_.find(value);
  return found == readers_.end() ? 0 : found->second;
}

bool Dependencies::only_stored(const std::string& value) const {
  return stored_.count(value) > 0;
}

Cut cut_at(
    const Graph& graph,
    const Dependencies& dependencies,
    const std::string& value) {
  return Cutter(graph, dependencies, value).run();
}

} // namespace temper::graph
