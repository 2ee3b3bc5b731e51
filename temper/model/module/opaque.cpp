#include "temper/model/module/opaque.h"

#include <torch/script.h>

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/libtorch/messages.h"
#include "temper/model/module/tensors.h"

namespace temper::model {
namespace {

// LibTorch's own to(type) would turn integer buffers, such as BatchNorm's
// counters, into floats.
void convert(const at::Tensor& tensor, at::ScalarType type) {
  if (at::isFloatingType(tensor.scalar_type()))
    tensor.set_data(tensor.detach().to(type));
}

void check_floating(at::ScalarType type) {
  if (!at::isFloatingType(type))
    throw Error(
        cat("[model] a model cannot compute in ",
            c10::toString(type),
            ": only floating types have gradients."));
}

class NnModule final : public Module {
 public:
  NnModule(std::shared_ptr<torch::nn::Module> net, Forward forward)
      : net_(std::move(net)), forward_(std::move(forward)) {}

  at::Tensor forward(const std::vector<at::Tensor>& inputs) override {
    return forward_(inputs);
  }
  std::vector<NamedTensor> parameters() const override {
    std::vector<NamedTensor> all;
    for (const auto& item : net_->named_parameters())
      all.push_back({item.key(), item.value(), item.value().requires_grad()});
    return all;
  }
  std::vector<NamedTensor> buffers() const override {
    std::vector<NamedTensor> all;
    for (const auto& item : net_->named_buffers())
      all.push_back({item.key(), item.value(), false});
    return all;
  }
  void set_training(bool training) override {
    net_->train(training);
  }
  bool training() const override {
    return net_->is_training();
  }
  void to(const at::Device& device) override {
    net_->to(device);
  }
  void to(at::ScalarType type) override {
    check_floating(type);
    for (const auto& tensor : net_->parameters())
      convert(tensor, type);
    for (const auto& tensor : net_->buffers())
      convert(tensor, type);
  }

 private:
  std::shared_ptr<torch::nn::Module> net_;
  Forward forward_;
};

// Networks return a tensor, or several in a tuple, list or dict; the first.
at::Tensor first_tensor(const c10::IValue& value) {
  if (value.isTensor()) return value.toTensor();
  if (value.isTuple())
    for (const auto& element : value.toTupleRef().elements())
      return first_tensor(element);
  if (value.isTensorList() && !value.toTensorList().empty())
    return value.toTensorList().get(0);
  if (value.isList() && !value.toListRef().empty())
    return first_tensor(value.toListRef()[0]);
  if (value.isGenericDict())
    for (const auto& entry : value.toGenericDict())
      return first_tensor(entry.value());
  throw Error(
      cat("[model] the model returned ",
          value.tagKind(),
          " where a tensor was expected."),
      "Return the network's output from forward().");
}

// The interpreter's message is a traceback whose last line says what is wrong:
// "RuntimeError: mat1 and mat2 shapes cannot be multiplied".
std::string cause_of(const std::string& message) {
  std::string cause;
  for (const std::string& line : split(message, '\n'))
    if (const auto text = trim(line); !text.empty() && text.front() != '~')
      if (cause.empty() || contains(text, "Error: ")) cause = text;
  if (const auto colon = cause.find("Error: "); colon != std::string::npos)
    cause = cause.substr(colon + 7);
  while (!cause.empty() && cause.back() == '.')
    cause.pop_back();
  return cause;
}

class ScriptModule final : public Module {
 public:
  explicit ScriptModule(const torch::jit::Module& net) : net_(net) {}

  at::Tensor forward(const std::vector<at::Tensor>& inputs) override {
    try {
      return first_tensor(net_.forward({inputs.begin(), inputs.end()}));
    } catch (const c10::Error&) {
      throw;
    } catch (const Error&) {
      throw;
    } catch (const std::runtime_error& error) { // the interpreter's
      const std::string message = error.what();
      if (libtorch::trouble_of(message) == libtorch::Trouble::memory) throw;
      std::vector<std::string> given;
      for (const at::Tensor& input : inputs)
        given.push_back(tensor_text(input));
      throw Error(
          cat("[model] the TorchScript model cannot compute with ",
              join(given, ", "),
              ": ",
              cause_of(message),
              "."),
          "Give it inputs of the size it was made for (of images: "
          "data.image_size), or export the model with torch.export, which "
          "says what it takes.");
    }
  }
  std::vector<NamedTensor> parameters() const override {
    std::vector<NamedTensor> all;
    for (const auto& item : net_.named_parameters())
      all.push_back({item.name, item.value, item.value.requires_grad()});
    return all;
  }
  std::vector<NamedTensor> buffers() const override {
    std::vector<NamedTensor> all;
    for (const auto& item : net_.named_buffers())
      all.push_back({item.name, item.value, false});
    return all;
  }
  void set_training(bool training) override {
    net_.train(training);
  }
  bool training() const override {
    return net_.is_training();
  }
  void to(const at::Device& device) override {
    net_.to(device);
  }
  void to(at::ScalarType type) override {
    check_floating(type);
    for (const auto& tensor : net_.parameters())
      convert(tensor, type);
    for (const auto& tensor : net_.buffers())
      convert(tensor, type);
  }

 private:
  torch::jit::Module net_;
};

} // namespace

std::unique_ptr<Module> make_opaque(
    std::shared_ptr<torch::nn::Module> net,
    Forward forward) {
  return std::make_unique<NnModule>(std::move(net), std::move(forward));
}

std::unique_ptr<Module> open_torchscript(const std::filesystem::path& path) {
  std::error_code problem;
  if (!std::filesystem::is_regular_file(path, problem))
    throw Error(
        cat("[model] cannot open ", path.string(), ": there is no such file."));
  try {
    // A file saved on another device comes to the CPU first: that device may
    // not be here.
    return std::make_unique<ScriptModule>(
        torch::jit::load(path.string(), at::kCPU));
  } catch (const c10::Error& error) {
    throw Error(
        cat("[model] ",
            path.string(),
            " is not a TorchScript file: ",
            libtorch::first_line(error.what_without_backtrace()),
            "."),
        "Weights alone are no network; export the model with torch.export, or "
        "save it with torch.jit.save(torch.jit.script(model), \"net.pt\").");
  }
}

} // namespace temper::model
