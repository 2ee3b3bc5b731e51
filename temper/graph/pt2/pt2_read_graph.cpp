#include <set>

#include "temper/base/text.h"
#include "temper/graph/pt2/pt2_arguments.h"
#include "temper/graph/pt2/pt2_graph.h"
#include "temper/graph/pt2/pt2_nodes.h"

namespace temper::graph::pt2 {
namespace {

class GraphReader {
 public:
  explicit GraphReader(const Json& program)
      : program_(program),
        module_(need(program, "graph_module")),
        graph_json_(need(module_, "graph")),
        signature_(need(module_, "signature")) {}

  Graph read() {
    inputs();
    nodes();
    symbols();
    calling();
    if (const Json* version = find(program_, "torch_version"))
      producer(text_of(*version, "torch_version"));
    return std::move(graph_);
  }

 private:
  void nodes() {
    std::set<std::string> still;
    for (const Input& input : graph_.inputs)
      if (input.kind != InputKind::kParameter) still.insert(input.value);
    NodeReader reader(graph_, std::move(still));
    reader.read(graph_json_);
    outputs();
    for (Output& output : graph_.outputs)
      reader.rename(output.value);
  }

  void inputs() {
    const Json& specs = list_of(need(signature_, "input_specs"), "input_specs");
    for (const Json& each : specs) {
      const auto [kind, spec] = choice_of(each, "input_specs");
      Input input;
      if (kind == "user_input") {
        const auto [type, value] = choice_of(need(spec, "arg"), "arg");
        if (type != "as_tensor")
          throw Unreadable(
              cat("an input of the model is of the kind ",
                  shown(type),
                  ", not a tensor"),
              "Export it with tensors as its only arguments.");
        input.value = name_of(need(value, "name"), "name");
        input.target = input.value;
      } else if (kind == "constant_input") {
        // A flag or None, already worked into the graph.
        constant_inputs_ = true;
        continue;
      } else {
        lifted(kind, spec, input);
      }
      graph_.inputs.push_back(std::move(input));
    }
  }

  static void lifted(const std::string& kind, const Json& spec, Input& input) {
    const auto take = [&](InputKind as, const char* name) {
      input.kind = as;
      input.value = name_of(need(need(spec, "arg"), "name"), "name");
      input.target = name_of(need(spec, name), name);
    };
    if (kind == "parameter") {
      take(InputKind::kParameter, "parameter_name");
    } else if (kind == "buffer") {
      take(InputKind::kBuffer, "buffer_name");
      if (const Json* persistent = find(spec, "persistent"))
        input.persistent = bool_of(*persistent, "persistent");
    } else if (kind == "tensor_constant") {
      take(InputKind::kConstant, "tensor_constant_name");
    } else {
      throw Unreadable(
          cat("it has an input of the kind ",
              shown(kind),
              ", which temper does not know"));
    }
  }

  void outputs() {
    const Json& specs =
        list_of(need(signature_, "output_specs"), "output_specs");
    for (const Json& each : specs) {
      const auto [kind, spec] = choice_of(each, "output_specs");
      Output output;
      if (kind == "user_output") {
        output.value = read_argument(need(spec, "arg"));
      } else if (kind == "buffer_mutation") {
        output.kind = OutputKind::kBufferMutation;
        output.value =
            TensorName{name_of(need(need(spec, "arg"), "name"), "name")};
        output.target = name_of(need(spec, "buffer_name"), "buffer_name");
      } else {
        throw Unreadable(
            cat("it has an output of the kind ",
                shown(kind),
                ", which temper does not know"));
      }
      graph_.outputs.push_back(std::move(output));
    }
  }

  void symbols() {
    const Json* ranges = find(program_, "range_constraints");
    if (ranges == nullptr) return;
    const auto bound = [](const Json& range, const char* name) {
      std::optional<std::int64_t> value;
      const Json* found = find(range, name);
      if (found != nullptr && !found->is_null()) value = int_of(*found, name);
      return value;
    };
    for (const auto& [name, range] :
         object_of(*ranges, "range_constraints").items())
      graph_.symbols[name] = {bound(range, "min_val"), bound(range, "max_val")};
  }

  void calling() {
    const Json* calls = find(module_, "module_call_graph");
    if (calls == nullptr || !calls->is_array()) return;
    for (const Json& call : *calls) {
      const Json* signature = find(call, "signature");
      const Json* path = find(call, "fqn");
      if (path == nullptr || !path->is_string() ||
          !path->get_ref<const std::string&>().empty() ||
          signature == nullptr || !signature->is_object())
        continue;
      auto& calling = graph_.calling;
      calling.out_spec = text_of(need(*signature, "out_spec"), "out_spec");
      // Without the constants among them, the inputs are plain tensors.
      if (constant_inputs_) return;
      calling.in_spec = text_of(need(*signature, "in_spec"), "in_spec");
      const Json* names = find(*signature, "forward_arg_names");
      if (names == nullptr || !names->is_array()) return;
      for (const Json& name : *names)
        calling.argument_names.push_back(name_of(name, "forward_arg_names"));
      return;
    }
  }

  void producer(const std::string& version) {
    const bool torch =
        !version.empty() && version[0] >= '0' && version[0] <= '9';
    graph_.producer = shown(torch ? cat("PyTorch ", version) : version);
  }

  const Json& program_;
  const Json& module_;
  const Json& graph_json_;
  const Json& signature_;
  bool constant_inputs_ = false;
  Graph graph_;
};

} // namespace

Graph read_graph(const Json& program) {
  return GraphReader(program).read();
}

} // namespace temper::graph::pt2
