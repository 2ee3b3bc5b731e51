// The tree of modules that real names describe: "features.0.weight" is the
// weight of module "0" of module "features".
#include <memory>

#include "temper/base/text.h"
#include "temper/model/module/tensors.h"
#include "temper/model/script/script_builder.h"

namespace temper::model {
namespace {

using graph::InputKind;

struct Leaf {
  std::string name;
  at::Tensor tensor;
  bool parameter = false;
};

struct Branch {
  std::vector<Leaf> leaves;
  std::vector<std::pair<std::string, std::unique_ptr<Branch>>> children;

  Branch& child(const std::string& name) {
    for (auto& [known, branch] : children)
      if (known == name) return *branch;
    children.emplace_back(name, std::make_unique<Branch>());
    return *children.back().second;
  }
};

// Tensors that share their bytes (tied weights) stay one.
class Tensors {
 public:
  at::Tensor of(const graph::TensorData& data) {
    if (data.bytes == nullptr) return tensor_of(data);
    auto& known = made_[{data.bytes.get(), data.sizes}];
    if (!known.defined()) known = tensor_of(data);
    return known;
  }

 private:
  std::map<std::pair<const std::byte*, std::vector<std::int64_t>>, at::Tensor>
      made_;
};

Branch tree_of(const graph::Program& program) {
  Branch root;
  Tensors tensors;
  for (const auto& input : program.graph.inputs) {
    if (input.kind == InputKind::kUser) continue;
    auto path = split(input.target, '.');
    Branch* branch = &root;
    for (std::size_t i = 0; i + 1 < path.size(); ++i)
      branch = &branch->child(path[i]);
    at::Tensor tensor = tensors.of(program.weights.at(input.target));
    const bool parameter = input.kind == InputKind::kParameter;
    if (parameter && input.trainable && tensor.is_floating_point())
      tensor.set_requires_grad(true);
    branch->leaves.push_back({path.back(), tensor, parameter});
  }
  return root;
}

torch::jit::Module module_of(
    const Branch& branch,
    const std::string& name,
    const std::shared_ptr<torch::jit::CompilationUnit>& unit) {
  torch::jit::Module module(c10::QualifiedName(name), unit, true);
  // torch.nn.Module.eval() and train() in Python set it.
  module.register_attribute("training", c10::BoolType::get(), false);
  for (const auto& leaf : branch.leaves)
    module.register_parameter(leaf.name, leaf.tensor, !leaf.parameter);
  for (const auto& [child_name, child] : branch.children)
    module.register_module(child_name, module_of(*child, name, unit));
  return module;
}

} // namespace

torch::jit::Module script_modules(const graph::Program& program) {
  const auto unit = std::make_shared<torch::jit::CompilationUnit>();
  return module_of(tree_of(program), "__torch__.temper.Module", unit);
}

} // namespace temper::model
