#include <algorithm>
#include <set>

#include "temper/base/error.h"
#include "temper/base/nearest.h"
#include "temper/base/text.h"
#include "temper/graph/ir/node_arguments.h"
#include "temper/graph/ir/ties.h"
#include "temper/graph/op/effects.h"
#include "temper/graph/pass/edit.h"
#include "temper/graph/pass/norm_mode.h"
#include "temper/graph/pass/passes.h"

namespace temper::graph {
namespace {

// "classifer.*" is a slip for "classifier.*": modules are offered as well as
// single names.
[[noreturn]] void refuse_pattern(
    const std::string& pattern,
    const std::vector<std::string>& names,
    const char* noun) {
  std::set<std::string> known(names.begin(), names.end());
  for (const std::string& name : names)
    for (std::string path = parent_path(name); !path.empty();
         path = parent_path(path))
      known.insert(path + ".*");
  const auto close = nearest(pattern, {known.begin(), known.end()});
  std::vector<std::string> some(
      names.begin(), names.begin() + std::min<std::size_t>(3, names.size()));
  throw Error(
      cat("[graph] cannot freeze '", pattern, "': no ", noun, " matches it."),
      close ? cat("Did you mean '", *close, "'?")
            : cat("Names look like ",
                  join(some, ", "),
                  "; * stands for any text."));
}

// Which names match; an Error for a pattern that hits none.
std::set<std::string> matching(
    const std::vector<std::string>& names,
    const std::vector<std::string>& patterns,
    const char* noun) {
  std::set<std::string> hits;
  for (const std::string& pattern : patterns) {
    bool hit = false;
    for (const std::string& name : names) {
      if (!matches(pattern, name)) continue;
      hits.insert(name);
      hit = true;
    }
    if (!hit) refuse_pattern(pattern, names, noun);
  }
  return hits;
}

// True for a BatchNorm that trains while no parameter of its module does.
bool frozen_but_moving(const Graph& graph, const Node& node) {
  if (!uses_batch_statistics(node) || values_written(node).empty())
    return false;
  const Input* weight =
      find_input(graph, NodeArguments(node).tensor_name("weight"));
  return weight != nullptr && !weight->trainable;
}

} // namespace

Passed freeze(
    const Program& program,
    const std::vector<std::string>& patterns) {
  Passed passed{program, ""};
  Graph& graph = passed.program.graph;
  std::vector<std::string> names;
  for (const Input* input : graph.inputs_of(InputKind::kParameter))
    names.push_back(input->target);
  std::set<std::string> hits = matching(names, patterns, "parameter");
  // A tensor is frozen under all its names or under none.
  for (const auto& group : tied_names(program))
    if (std::any_of(group.begin(), group.end(), [&](const std::string& name) {
          return hits.count(name) > 0;
        }))
      hits.insert(group.begin(), group.end());
  std::int64_t values = 0;
  std::int64_t all = 0;
  for (Input& input : graph.inputs) {
    if (input.kind != InputKind::kParameter) continue;
    TensorMeta& meta = graph.tensors.at(input.value);
    std::int64_t count = 1;
    for (const Size& size : meta.sizes)
      count *= size.value;
    all += count;
    if (hits.count(input.target) == 0) continue;
    input.trainable = false;
    meta.requires_grad = false;
    values += count;
  }
  passed.report =
      cat("froze ",
          hits.size(),
          " of ",
          plural(static_cast<std::int64_t>(names.size()), "parameter"),
          " (",
          count_text(values),
          " of ",
          count_text(all),
          " values)");
  const auto moving = std::count_if(
      graph.nodes.begin(), graph.nodes.end(), [&](const Node& node) {
        return frozen_but_moving(graph, node);
      });
  if (moving > 0)
    passed.report +=
        cat("; the statistics of ",
            plural(moving, "frozen BatchNorm"),
            " still move");
  return passed;
}

Passed freeze_statistics(
    const Program& program,
    const std::vector<std::string>& patterns) {
  Passed passed{program, ""};
  Graph& graph = passed.program.graph;
  std::vector<std::string> names;
  for (const Input& input : graph.inputs)
    if (input.kind != InputKind::kUser) names.push_back(input.target);
  const std::set<std::string> hits =
      matching(names, patterns, "parameter or buffer");

  std::set<std::string> counters;
  std::int64_t all = 0;
  std::int64_t stopped = 0;
  for (Node& node : graph.nodes) {
    const Input* mean =
        find_input(graph, NodeArguments(node).tensor_name("running_mean"));
    if (!is_batch_norm(node) || mean == nullptr) continue;
    ++all;
    const Input* weight =
        find_input(graph, NodeArguments(node).tensor_name("weight"));
    const bool hit = hits.count(mean->target) > 0 ||
        (weight != nullptr && hits.count(weight->target) > 0);
    if (!hit || !uses_batch_statistics(node)) continue;
    counters.insert(counter_of(graph, node));
    set_norm_mode(graph, node, false);
    ++stopped;
  }
  remove_counters(graph, counters);
  passed.report =
      cat(stopped,
          " of ",
          plural(all, "BatchNorm"),
          " now use and keep their running statistics");
  return passed;
}

} // namespace temper::graph
