#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/graph/pt2/pt2.h"
#include "temper/graph/pt2/pt2_archive.h"
#include "temper/graph/pt2/pt2_graph.h"
#include "temper/graph/pt2/pt2_values.h"
#include "temper/graph/pt2/pt2_weights.h"

namespace temper::graph {
namespace pt2 {
namespace {

constexpr std::int64_t kKnownMajor = 8;
constexpr std::int64_t kKnownMinor = 20;

// The advice for a file from a later PyTorch; empty for one that is not.
std::string newer_hint(const Json& program) {
  const Json* version = find(program, "schema_version");
  if (version == nullptr) return "";
  const Json* major = find(*version, "major");
  const Json* minor = find(*version, "minor");
  if (major == nullptr || minor == nullptr || !major->is_number_integer() ||
      !minor->is_number_integer())
    return "";
  const auto wrote =
      std::pair(int_of(*major, "major"), int_of(*minor, "minor"));
  if (wrote <= std::pair(kKnownMajor, kKnownMinor)) return "";
  return cat(
      "The file has schema version ",
      wrote.first,
      ".",
      wrote.second,
      ", and temper knows ",
      kKnownMajor,
      ".",
      kKnownMinor,
      ": export with PyTorch 2.14, or update temper.");
}

using MayLack = WeightsReader::MayLack;

Program read_program(const ZipFile& zip, MayLack may_lack) {
  const Archive archive(zip);
  const Json json = archive.program();
  Program program;
  try {
    program.graph = read_graph(json);
  } catch (const Unreadable& problem) {
    const auto hint = newer_hint(json);
    throw Unreadable(problem.why(), hint.empty() ? problem.hint() : hint);
  }
  validate(program.graph);
  WeightsReader weights(archive, may_lack);
  for (Input& input : program.graph.inputs) {
    if (input.kind == InputKind::kUser) continue;
    at_place(shown(input.target), [&] {
      const bool constant =
          input.kind == InputKind::kConstant || !input.persistent;
      auto weight = weights.read(input.target, constant);
      if (input.kind == InputKind::kParameter)
        input.trainable = weight.requires_grad;
      program.weights[input.target] = std::move(weight.data);
      auto& meta = program.graph.tensors.at(input.value);
      meta.strides = contiguous_strides(meta.sizes);
      meta.storage_offset = 0;
    });
  }
  validate(program);
  return program;
}

template <class Read>
auto open(const std::filesystem::path& path, const Read& read) {
  const ZipFile zip(
      path,
      "graph",
      "Is it a whole .pt2 file, as torch.export.save writes them?");
  try {
    return read(zip);
  } catch (const Unreadable& problem) {
    throw Error(
        cat("[graph] cannot read ", path.string(), ": ", problem.why(), "."),
        problem.hint().empty() ? "Export the model again." : problem.hint());
  }
}

} // namespace
} // namespace pt2

Program read_pt2(const std::filesystem::path& path) {
  return pt2::open(path, [](const ZipFile& zip) {
    return pt2::read_program(zip, pt2::MayLack::kNothing);
  });
}

Program read_pt2_without_weights(const std::filesystem::path& path) {
  return pt2::open(path, [](const ZipFile& zip) {
    return pt2::read_program(zip, pt2::MayLack::kWeights);
  });
}

std::optional<std::string> read_pt2_extra(
    const std::filesystem::path& path,
    const std::string& name) {
  return pt2::open(path, [&](const ZipFile& zip) -> std::optional<std::string> {
    const pt2::Archive archive(zip);
    const ZipFile::Entry* entry = archive.find_extra(name);
    if (entry == nullptr) return std::nullopt;
    const SharedBytes text = zip.read(*entry);
    return std::string(
        reinterpret_cast<const char*>(text.data.get()), text.size);
  });
}

} // namespace temper::graph
