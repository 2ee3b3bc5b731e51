#include "temper/weights/load_weights.h"

#include <algorithm>
#include <array>
#include <set>

#include "temper/base/error.h"
#include "temper/base/nearest.h"
#include "temper/base/text.h"
#include "temper/graph/ir/ties.h"
#include "temper/weights/safetensors_header.h"

namespace temper::weights {
namespace {

using graph::Graph;
using graph::Input;
using graph::InputKind;
using graph::Weights;

// The prefixes that wrappers put in front of every name: data parallel
// training, Lightning, torch.compile, and dicts saved a level too deep.
constexpr std::array<const char*, 4> kPrefixes{
    "module.",
    "model.",
    "_orig_mod.",
    "state_dict."};
constexpr int kDeepest = 3; // "module._orig_mod.model."

bool is_counter(const std::string& name) {
  return name.ends_with("num_batches_tracked");
}

bool in_state_dict(const Input& input) {
  return input.kind == InputKind::kParameter ||
      (input.kind == InputKind::kBuffer && input.persistent);
}

std::string without(const std::string& prefix, const std::string& name) {
  return name.starts_with(prefix) ? name.substr(prefix.size()) : name;
}

std::size_t known_names(
    const std::set<std::string>& targets,
    const Weights& weights,
    const std::string& prefix) {
  std::size_t known = 0;
  for (const auto& [name, tensor] : weights)
    known += targets.count(without(prefix, name));
  return known;
}

// The prefix without which most names are the model's; none when none helps.
std::string best_prefix(
    const std::set<std::string>& targets,
    const Weights& weights) {
  std::string best;
  std::size_t most = known_names(targets, weights, best);
  std::vector<std::string> candidates{""};
  for (int depth = 0; depth < kDeepest; ++depth) {
    std::vector<std::string> longer;
    for (const auto& candidate : candidates)
      for (const char* prefix : kPrefixes)
        longer.push_back(candidate + prefix);
    for (const auto& candidate : longer) {
      const std::size_t known = known_names(targets, weights, candidate);
      if (known > most) {
        most = known;
        best = candidate;
      }
    }
    candidates = std::move(longer);
  }
  return best;
}

std::vector<std::int64_t> sizes_of(const graph::TensorMeta& meta) {
  std::vector<std::int64_t> sizes;
  for (const auto& size : meta.sizes)
    sizes.push_back(size.value);
  return sizes;
}

std::string form_text(
    const std::vector<std::int64_t>& sizes,
    graph::DType dtype) {
  return cat(sizes_text(sizes), " ", graph::name_of(dtype));
}

// The names the file has for the model's names.
std::map<std::string, std::string> file_names(
    const std::set<std::string>& targets,
    const Weights& weights,
    const std::string& prefix) {
  std::map<std::string, std::string> names;
  for (const auto& [name, tensor] : weights) {
    const std::string target = without(prefix, name);
    // A name that is the model's as it stands goes before one made so.
    if (targets.count(target) > 0 &&
        (names.count(target) == 0 || name == target))
      names[target] = name;
  }
  return names;
}

std::string hint_for(const WeightsMatch& match, const Graph& graph) {
  const auto head = head_parameters(graph);
  const auto of_head = [&](const std::string& name) {
    return std::find(head.begin(), head.end(), name) != head.end();
  };
  const bool only_head = match.left_over.empty() &&
      std::all_of(match.misfits.begin(),
                  match.misfits.end(),
                  [&](const WeightsMisfit& misfit) {
                    return of_head(misfit.name);
                  }) &&
      std::all_of(match.missing.begin(), match.missing.end(), of_head);
  if (only_head)
    return "Only the last layer differs: for another task, start it anew with "
           "head = \"new\".";
  if (match.fits.empty()) return "Are these the weights of this model?";
  if (match.misfits.empty() && match.missing.empty())
    return "Is it a larger model's file? If the rest is not wanted, leave it "
           "out where the file is made.";
  return "Check the model's name, its width and its number of classes.";
}

// A checkpoint has a tied tensor under one of its names, a file of safetensors
// often too: the other names follow it.
void follow_ties(const graph::Program& program, WeightsMatch& match) {
  for (const auto& group : graph::tied_names(program)) {
    const auto given =
        std::find_if(group.begin(), group.end(), [&](const std::string& name) {
          return match.fits.count(name) > 0;
        });
    if (given == group.end()) continue;
    for (const std::string& name : group) {
      if (std::find(match.fresh.begin(), match.fresh.end(), name) !=
          match.fresh.end())
        throw Error(
            cat("[model] the last layer cannot be new: ",
                name,
                " is tied with ",
                *given,
                "."),
            "Export the model without tying them.");
      if (std::erase(match.missing, name) > 0)
        match.fits[name] = match.fits.at(*given);
    }
  }
}

} // namespace

bool WeightsMatch::complete(const LoadOptions& options) const {
  return misfits.empty() && missing.empty() &&
      (left_over.empty() || options.ignore_left_over);
}

std::vector<std::string> head_parameters(const Graph& graph) {
  std::map<std::string, const Input*> parameters;
  for (const Input* input : graph.inputs_of(InputKind::kParameter))
    parameters[input->value] = input;
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    std::vector<std::string> names;
    bool matrix = false; // a norm behind the head has vectors only
    for (const auto& value : graph::values_read(*node)) {
      const auto found = parameters.find(value);
      if (found == parameters.end()) continue;
      names.push_back(found->second->target);
      matrix = matrix || graph.meta(value).sizes.size() >= 2;
    }
    if (matrix) return names;
  }
  return {};
}

WeightsMatch match_weights(
    const Graph& graph,
    const Weights& weights,
    const LoadOptions& options) {
  WeightsMatch match;
  std::set<std::string> targets;
  for (const auto& input : graph.inputs)
    if (in_state_dict(input)) targets.insert(input.target);
  const auto heads =
      options.new_head ? head_parameters(graph) : std::vector<std::string>{};
  match.stripped = best_prefix(targets, weights);
  const auto names = file_names(targets, weights, match.stripped);

  std::set<std::string> used;
  for (const auto& input : graph.inputs) {
    if (!in_state_dict(input)) continue;
    const auto found = names.find(input.target);
    if (found != names.end()) used.insert(found->second);
    if (std::find(heads.begin(), heads.end(), input.target) != heads.end()) {
      match.fresh.push_back(input.target);
      continue;
    }
    if (found == names.end()) {
      if (!is_counter(input.target)) match.missing.push_back(input.target);
      continue;
    }
    const auto& tensor = weights.at(found->second);
    const auto& meta = graph.meta(input.value);
    const auto sizes = sizes_of(meta);
    const bool converts = can_widen(tensor.dtype, meta.dtype);
    if (tensor.sizes != sizes || (tensor.dtype != meta.dtype && !converts)) {
      match.misfits.push_back(
          {input.target,
           form_text(tensor.sizes, tensor.dtype),
           form_text(sizes, meta.dtype)});
      continue;
    }
    match.fits[input.target] = found->second;
    if (converts) match.converted.push_back(input.target);
  }
  for (const auto& [name, tensor] : weights) {
    // Constants and buffers that no state dict has come with .pt2 files.
    const bool known = used.count(name) > 0 || is_counter(name) ||
        graph.find_target(name) != nullptr;
    if (!known) match.left_over.push_back(name);
  }
  return match;
}

Loaded load_weights(
    const graph::Program& program,
    const Weights& weights,
    const std::string& file,
    const LoadOptions& options) {
  auto match = match_weights(program.graph, weights, options);
  follow_ties(program, match);
  if (!match.complete(options))
    throw Error(
        cat("[model] the weights of ",
            file,
            " do not fit the model: ",
            match_report(match)),
        hint_for(match, program.graph));
  Loaded loaded{program, ""};
  Weights fitting;
  for (const auto& [target, name] : match.fits) {
    const auto type =
        program.graph.meta(program.graph.find_target(target)->value).dtype;
    const auto& tensor = weights.at(name);
    fitting[target] = tensor.dtype == type ? tensor : widened(tensor, type);
  }
  graph::replace_weights(loaded.program, fitting);
  std::vector<std::string> notes{
      cat(plural(static_cast<std::int64_t>(match.fits.size()), "tensor"),
          " of ",
          file)};
  if (!match.stripped.empty())
    notes.push_back(cat("names without \"", match.stripped, "\""));
  if (!match.converted.empty())
    notes.push_back(
        cat(plural(static_cast<std::int64_t>(match.converted.size()), "tensor"),
            " made wider"));
  if (!match.fresh.empty())
    notes.push_back(cat("a new head (", join(match.fresh, ", "), ")"));
  if (!match.left_over.empty())
    notes.push_back(
        cat(plural(static_cast<std::int64_t>(match.left_over.size()), "tensor"),
            " left out"));
  loaded.report = join(notes, ", ");
  return loaded;
}

} // namespace temper::weights
