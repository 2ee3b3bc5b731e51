#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/model/executor/compiled_graph.h"
#include "temper/model/module/tensors.h"

namespace temper::model {
namespace {

std::string expected_text(const ExpectedInput& input) {
  std::vector<std::string> sizes;
  for (const auto& size : input.sizes)
    sizes.push_back(graph::size_text(size));
  return cat(
      graph::name_of(dtype_of(input.type)), " [", join(sizes, ", "), "]");
}

bool fits_fixed(
    const ExpectedInput& input,
    const std::vector<std::int64_t>& sizes) {
  if (sizes.size() != input.sizes.size()) return false;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (input.sizes[i].fixed() && input.sizes[i].value != sizes[i])
      return false;
  return true;
}

std::string advice(const ExpectedInput& input, const at::Tensor& given) {
  auto sizes = given.sizes().vec();
  if (fits_fixed(input, sizes))
    return cat(
        "Convert it: to(torch.", graph::name_of(dtype_of(input.type)), ").");
  if (sizes.size() == 4) {
    const std::vector<std::int64_t> moved{
        sizes[0], sizes[3], sizes[1], sizes[2]};
    if (fits_fixed(input, moved))
      return "Its channels come last; put them second: permute(0, 3, 1, 2).";
  }
  const bool batch_fixed = !input.sizes.empty() && input.sizes[0].fixed();
  if (batch_fixed && sizes.size() == input.sizes.size() &&
      sizes[0] != input.sizes[0].value) {
    sizes[0] = input.sizes[0].value;
    if (fits_fixed(input, sizes))
      return "The batch was fixed when the model was exported; export it again "
             "with dynamic_shapes=({0: torch.export.Dim(\"batch\", min=2)},).";
  }
  if (sizes.size() + 1 == input.sizes.size())
    return "A batch of one sample has a first size of 1: unsqueeze(0).";
  return "";
}

[[noreturn]] void refuse_input(
    const ExpectedInput& input,
    const at::Tensor& given,
    const std::string& why = "") {
  throw Error(
      cat("[model] input ",
          input.name,
          " is expected as ",
          expected_text(input),
          ", given as ",
          tensor_text(given),
          why,
          "."),
      advice(input, given));
}

// torch.export specialises sizes 0 and 1, so it exports 2 as the smallest
// batch; the operators accept 1.
bool in_range(const graph::SymbolRange& range, std::int64_t value) {
  const std::int64_t low =
      range.low && *range.low > 2 ? *range.low : std::int64_t{1};
  return value >= low && (!range.high || value <= *range.high);
}

void bind(
    const CompiledGraph& compiled,
    const ExpectedInput& input,
    const at::Tensor& given,
    graph::Symbols& symbols) {
  for (std::size_t i = 0; i < input.symbols.size(); ++i) {
    if (input.symbols[i].empty()) continue;
    const auto value = given.size(static_cast<std::int64_t>(i));
    const auto [place, fresh] = symbols.emplace(input.symbols[i], value);
    if (!fresh && place->second != value)
      refuse_input(
          input,
          given,
          cat(", but ", input.symbols[i], " was ", place->second, " before"));
    const auto range = compiled.graph.symbols.find(input.symbols[i]);
    if (range != compiled.graph.symbols.end() &&
        !in_range(range->second, value))
      refuse_input(
          input,
          given,
          cat(", outside the sizes it was exported for (",
              range->second.low.value_or(0),
              " to ",
              range->second.high ? cat(*range->second.high) : "any",
              ")"));
  }
}

} // namespace

ExpectedInput expect_input(
    const graph::Graph& graph,
    const graph::Input& input,
    const TargetDevice& place,
    int slot) {
  if (graph.tensors.count(input.value) == 0)
    throw Error(
        cat("[model] input ",
            input.target,
            " is not a tensor, and temper gives tensors only."),
        "Export the model with that argument fixed.");
  const auto& meta = graph.meta(input.value);
  auto type = scalar_type_of(meta.dtype);
  if (type == place.exported) type = place.floating;
  ExpectedInput expected{
      input.target.empty() ? input.value : input.target,
      slot,
      type,
      meta.sizes,
      {}};
  for (const auto& size : meta.sizes) {
    const auto names = graph::symbols_of(size);
    const bool plain =
        names.size() == 1 && graph::size_text(size) == names.front();
    expected.symbols.push_back(plain ? names.front() : "");
  }
  return expected;
}

void place_inputs(
    const CompiledGraph& compiled,
    const std::vector<at::Tensor>& given,
    Frame& frame) {
  if (given.size() != compiled.inputs.size())
    throw Error(
        cat("[model] the model takes ",
            plural(static_cast<std::int64_t>(compiled.inputs.size()), "input"),
            ", given ",
            given.size(),
            "."));
  graph::Symbols symbols;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const auto& input = compiled.inputs[i];
    if (!given[i].defined() || given[i].scalar_type() != input.type ||
        !fits_fixed(input, given[i].sizes().vec()))
      refuse_input(input, given[i]);
    bind(compiled, input, given[i], symbols);
    if (given[i].device().type() != compiled.place.device.type())
      throw Error(
          cat("[model] input ",
              input.name,
              " is on ",
              given[i].device().str(),
              " and the model on ",
              compiled.place.device.str(),
              "."),
          cat("Move it: to(\"", compiled.place.device.str(), "\")."));
    at_slot(frame, input.slot) = given[i];
  }
  for (std::size_t i = 0; i < given.size(); ++i)
    for (std::size_t d = 0; d < compiled.inputs[i].sizes.size(); ++d) {
      const auto& size = compiled.inputs[i].sizes[d];
      if (size.fixed() || !compiled.inputs[i].symbols[d].empty()) continue;
      if (graph::evaluate(size, symbols) !=
          given[i].size(static_cast<std::int64_t>(d)))
        refuse_input(compiled.inputs[i], given[i]);
    }
}

} // namespace temper::model
