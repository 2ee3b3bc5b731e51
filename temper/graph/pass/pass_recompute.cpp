// A segment's activations are dropped after the forward pass and computed again
// from the segment's inputs. That gives the same numbers only when nothing the
// segment reads is written over in between, and nothing it writes existed
// before it: nodes that break this stay outside, and end the segment. Running
// statistics may move, since whoever runs the graph moves them once.
#include <map>
#include <set>

#include "temper/base/error.h"
#include "temper/base/nearest.h"
#include "temper/base/text.h"
#include "temper/graph/ir/node_arguments.h"
#include "temper/graph/op/effects.h"
#include "temper/graph/pass/edit.h"
#include "temper/graph/pass/passes.h"

namespace temper::graph {
namespace {

using Names = std::set<std::string>;
using Modules = std::vector<std::string>; // by node; empty: outside

// The outermost module on the node's path that matches a pattern.
std::string instance_of(
    const std::string& path,
    const std::vector<std::string>& patterns) {
  for (std::size_t end = 0; end != std::string::npos && !path.empty();) {
    end = path.find('.', end == 0 ? 0 : end + 1);
    const std::string module = path.substr(0, end);
    for (const std::string& pattern : patterns)
      if (matches(pattern, module)) return module;
  }
  return "";
}

void refuse_idle_patterns(
    const Graph& graph,
    const std::vector<std::string>& patterns) {
  Names paths;
  for (const Node& node : graph.nodes)
    for (std::string path = node.module; !path.empty();
         path = parent_path(path))
      paths.insert(path);
  for (const std::string& pattern : patterns) {
    bool hit = false;
    for (const std::string& path : paths)
      hit = hit || matches(pattern, path);
    if (hit) continue;
    const auto close = nearest(pattern, {paths.begin(), paths.end()});
    throw Error(
        cat("[graph] cannot recompute '", pattern, "': no module matches it."),
        close ? cat("Did you mean '", *close, "'?")
              : "temper model show lists the modules; * stands for any text.");
  }
}

bool makes_only_numbers(const Node& node) {
  for (const Result& result : node.outputs)
    if (!std::holds_alternative<NumberName>(result)) return false;
  return !node.outputs.empty();
}

class Segments {
 public:
  explicit Segments(Graph& graph) : graph_(graph), memory_(graph) {
    for (std::size_t i = 0; i < graph.nodes.size(); ++i)
      for (const std::string& value : values_written(graph.nodes[i]))
        last_write_[memory_.owner(value)] = i;
  }

  // Nodes [begin, end) are one module's: marks what can be, in one piece or
  // in several.
  void mark(std::size_t begin, std::size_t end) {
    for (std::size_t at = begin; at < end;) {
      const std::size_t stop = first_bad(at, end);
      bool computes = false;
      for (std::size_t i = at; i < stop; ++i)
        computes = computes || !makes_only_numbers(graph_.nodes[i]);
      if (computes) {
        for (std::size_t i = at; i < stop; ++i)
          graph_.nodes[i].recompute_segment = count;
        marked += stop - at;
        ++count;
      }
      if (stop < end) left_out.push_back(describe(graph_.nodes[stop]));
      at = stop + 1;
    }
  }

  int count = 0;
  std::size_t marked = 0;
  std::vector<std::string> left_out;

 private:
  // The first node of [begin, end) that may not be in that segment; `end` when
  // all may.
  std::size_t first_bad(std::size_t begin, std::size_t end) const {
    Names made; // memories that begin inside the segment
    Names moved; // buffers it writes
    for (std::size_t i = begin; i < end; ++i) {
      const Node& node = graph_.nodes[i];
      Names written;
      for (const std::string& value : values_written(node)) {
        const std::string owner = memory_.owner(value);
        const Input* input = find_input(graph_, owner);
        const bool is_buffer =
            input != nullptr && input->kind == InputKind::kBuffer;
        if (!is_buffer && made.count(owner) == 0) return i;
        written.insert(owner);
        if (is_buffer) moved.insert(owner);
      }
      for (const std::string& value : values_read(node)) {
        const std::string owner = memory_.owner(value);
        if (made.count(owner) > 0 || written.count(owner) > 0) continue;
        if (moved.count(owner) > 0) return i; // reads what it moved
        const auto write = last_write_.find(owner);
        if (write != last_write_.end() && write->second >= i) return i;
      }
      for (const std::string& value : values_made(node))
        if (memory_.owner(value) == value) made.insert(value);
    }
    return end;
  }

  Graph& graph_;
  const AliasMap memory_;
  std::map<std::string, std::size_t> last_write_; // by memory
};

} // namespace

Passed mark_recompute(
    const Program& program,
    const std::vector<std::string>& patterns) {
  Passed passed{program, ""};
  Graph& graph = passed.program.graph;
  refuse_idle_patterns(graph, patterns);
  Modules modules;
  for (Node& node : graph.nodes) {
    node.recompute_segment = -1;
    modules.push_back(instance_of(node.module, patterns));
  }
  // Numbers cost nothing to compute and need not end a segment.
  for (std::size_t i = 1; i + 1 < modules.size(); ++i)
    if (modules[i].empty() && makes_only_numbers(graph.nodes[i]) &&
        modules[i - 1] == modules[i + 1])
      modules[i] = modules[i - 1];

  Segments segments(graph);
  for (std::size_t i = 0; i < modules.size();) {
    std::size_t end = i + 1;
    while (end < modules.size() && modules[end] == modules[i])
      ++end;
    if (!modules[i].empty()) segments.mark(i, end);
    i = end;
  }
  passed.report =
      cat("marked ",
          segments.marked,
          " of ",
          plural(static_cast<std::int64_t>(modules.size()), "node"),
          " in ",
          plural(segments.count, "segment"),
          " to be computed again");
  if (!segments.left_out.empty())
    passed.report +=
        cat("; left out ",
            plural(static_cast<std::int64_t>(segments.left_out.size()), "node"),
            " around in-place changes, the first ",
            segments.left_out.front());
  return passed;
}

} // namespace temper::graph
