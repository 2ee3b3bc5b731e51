#include "temper/graph/ir/ties.h"

#include <cstring>
#include <map>
#include <tuple>

#include "temper/base/error.h"
#include "temper/base/text.h"

namespace temper::graph {
namespace {

using StorageRange =
    std::tuple<const std::byte*, DType, std::vector<std::int64_t>, bool>;

bool equal(const TensorData& a, const TensorData& b) {
  return a.dtype == b.dtype && a.sizes == b.sizes &&
      (a.bytes == b.bytes ||
       std::memcmp(a.bytes.get(), b.bytes.get(), a.byte_count) == 0);
}

} // namespace

std::vector<std::vector<std::string>> tied_names(const Program& program) {
  std::map<StorageRange, std::size_t> known;
  std::vector<std::vector<std::string>> groups;
  for (const Input& input : program.graph.inputs) {
    if (input.kind != InputKind::kParameter && input.kind != InputKind::kBuffer)
      continue;
    const auto found = program.weights.find(input.target);
    if (found == program.weights.end() || found->second.byte_count == 0)
      continue;
    const TensorData& data = found->second;
    const StorageRange place{
        data.bytes.get(),
        data.dtype,
        data.sizes,
        input.kind == InputKind::kParameter};
    const auto [entry, fresh] = known.emplace(place, groups.size());
    if (fresh) groups.emplace_back();
    groups[entry->second].push_back(input.target);
  }
  std::erase_if(groups, [](const auto& group) { return group.size() < 2; });
  return groups;
}

void replace_weights(Program& program, const Weights& fresh) {
  const auto groups = tied_names(program);
  for (const auto& [name, tensor] : fresh)
    if (const auto own = program.weights.find(name);
        own != program.weights.end())
      own->second = tensor;
  for (const auto& group : groups) {
    const std::string* given = nullptr;
    for (const std::string& name : group) {
      if (fresh.count(name) == 0) continue;
      if (given == nullptr) given = &name;
      if (!equal(fresh.at(*given), fresh.at(name)))
        throw Error(
            cat("[graph] ",
                *given,
                " and ",
                name,
                " are one tensor in the model (tied weights), and the weights "
                "given have different values for them."),
            "Export the model without tying them, or give weights of the tied "
            "model.");
    }
    if (given == nullptr) continue;
    for (const std::string& name : group)
      program.weights[name] = fresh.at(*given);
  }
}

} // namespace temper::graph
