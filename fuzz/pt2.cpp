// torch.export archives. Mutants of whole archives rarely keep their checksums,
// so a text is also tried as the program and as the list of weights of an
// archive that is sound otherwise. What can be read must be written and read
// again the same.
#include "temper/graph/pt2/pt2.h"

#include "input_file.h"
#include "target.h"
#include "temper/base/error.h"
#include "temper/base/file/zip_file.h"
#include "zip_text.h"

namespace {

using namespace temper::graph;

constexpr const char* kProgram = "net/models/model.json";
constexpr const char* kWeights = "net/data/weights/model_weights_config.json";
constexpr const char* kConstants =
    "net/data/constants/model_constants_config.json";

// Every kind of input, a symbolic size, a list of results, strings of Python.
Program small_program() {
  Program program;
  Graph& graph = program.graph;
  const Size batch(4, "Symbol('s77', positive=True, integer=True)");
  const auto tensor = [&](const std::string& name, const Sizes& sizes) {
    TensorMeta meta;
    meta.sizes = sizes;
    meta.strides = Sizes(sizes.size(), Size(1));
    graph.tensors[name] = meta;
  };
  const auto input = [&](InputKind kind, const std::string& name) {
    graph.inputs.push_back({kind, "v_" + name, name});
    tensor("v_" + name, {2, 3});
    auto made = make_tensor(DType::kFloat32, {2, 3});
    program.weights[name] = made.data;
  };
  input(InputKind::kParameter, "fc.weight");
  input(InputKind::kBuffer, "mean");
  input(InputKind::kConstant, "shift");
  graph.inputs.push_back({InputKind::kUser, "x", "x"});
  tensor("x", {batch, 3});
  graph.symbols["s77"] = {2, 4096};
  Node rows;
  rows.op = "aten.sym_size.int";
  rows.inputs = {{"self", TensorName{"x"}}, {"dim", std::int64_t{0}}};
  rows.outputs = {NumberName{"rows"}};
  graph.numbers["rows"] = batch;
  Node linear;
  linear.op = "aten.linear.default";
  linear.module = "fc";
  linear.source = "net.py:27";
  linear.inputs = {
      {"input", TensorName{"x"}},
      {"weight", TensorName{"v_fc.weight"}},
      {"bias", None{}}};
  linear.outputs = {TensorName{"linear"}};
  tensor("linear", {batch, 2});
  Node chunk;
  chunk.op = "aten.chunk.default";
  chunk.inputs = {{"self", TensorName{"linear"}}, {"chunks", std::int64_t{2}}};
  chunk.outputs = {TensorNames{{"a"}, {"b"}}};
  tensor("a", {batch, 1});
  tensor("b", {batch, 1});
  graph.nodes = {rows, linear, chunk};
  graph.outputs = {{OutputKind::kUser, TensorName{"a"}, ""}};
  return program;
}

std::vector<std::pair<std::string, std::string>> entries_of(
    const std::filesystem::path& path) {
  const temper::ZipFile zip(path, "fuzz", "");
  std::vector<std::pair<std::string, std::string>> entries;
  for (const auto& entry : zip.entries()) {
    const auto bytes = zip.read(entry);
    entries.emplace_back(
        entry.name,
        std::string(
            reinterpret_cast<const char*>(bytes.data.get()), bytes.size));
  }
  return entries;
}

std::vector<std::pair<std::string, std::string>> small_entries() {
  temper::fuzz::InputFile file(".pt2");
  const auto path = file.write("", 0).parent_path() / "net.pt2";
  write_pt2(small_program(), path);
  return entries_of(path);
}

// What a writer may put right: calling conventions that do not fit, examples of
// numbers that are not integers.
std::uint64_t comparable(Graph graph) {
  graph.calling = {};
  graph.numbers.clear();
  return hash_of(graph);
}

void try_archive(const std::string& archive) {
  static temper::fuzz::InputFile file(".pt2");
  static int read = 0;
  try {
    const auto& path = file.write(archive.data(), archive.size());
    const Program program = read_pt2(path);
    fixed_batch_advice(program.graph);
    // Writing waits for the disk: not after every input.
    if (++read % 16 != 0) return;
    const auto again = path.parent_path() / "again.pt2";
    write_pt2(program, again);
    const Program second = read_pt2(again);
    if (comparable(second.graph) != comparable(program.graph)) __builtin_trap();
    if (second.weights.size() != program.weights.size()) __builtin_trap();
  } catch (const temper::Error&) {
  }
}

} // namespace

std::vector<std::string> temper::fuzz::seeds() {
  std::vector<std::string> seeds{zip_of(small_entries())};
  for (const auto& [name, text] : small_entries())
    if (name == kProgram || name == kWeights) seeds.push_back(text);
  return seeds;
}

extern "C" int LLVMFuzzerTestOneInput(
    const std::uint8_t* data,
    std::size_t size) {
  static const auto sound = small_entries();
  const std::string input(reinterpret_cast<const char*>(data), size);
  if (input.empty() || input[0] != '{') {
    try_archive(input);
    return 0;
  }
  for (const char* part : {kProgram, kWeights, kConstants}) {
    auto entries = sound;
    for (auto& [name, text] : entries)
      if (name == part) text = input;
    try_archive(temper::fuzz::zip_of(entries));
  }
  return 0;
}
