#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>

#include "temper/base/nearest.h"
#include "temper/base/text.h"
#include "temper/cli/terminal/command.h"
#include "temper/graph/cost/summary.h"
#include "temper/graph/pt2/pt2.h"
#include "temper/model/zoo/zoo.h"

namespace temper::cli {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> zoo_names() {
  std::vector<std::string> names;
  for (const auto& line : model::zoo_lines())
    names.push_back(line.name);
  return names;
}

class ModelCommand : public Command {
 public:
  Manual manual() const override {
    std::string zoo;
    for (const auto& line : model::zoo_lines())
      zoo +=
          cat(zoo.empty() ? " " : "; ", line.name, " (", line.description, ")");
    return {
        "show says what is in a model, without running it: for each module its "
        "operators, the shape of its result, its parameters, its work in "
        "multiply-adds a sample, the memory its results make and what of it is "
        "kept for the backward pass; then the totals, with the most memory "
        "that activations take at once in evaluation and in training.\n\n"
        "A model is a torch.export file (.pt2) or one of the zoo:" +
            zoo + ".",
        {{"temper model show net.pt2", "what is in your own model"},
         {"temper model show resnet50", "a model of the zoo"},
         {"temper model show net.pt2 --batch 64", "its memory at that batch"},
         {"temper model show net.pt2 --nodes",
          "every operator, with your source lines"},
         {"temper model show net.pt2 --json", "the same for programs"}},
        {{0, "done"},
         {1, "the model cannot be read, or its shapes do not fit"},
         {2, "wrong flags"}}};
  }

  void declare(CLI::App& app) override {
    app.add_option("ACTION", action_, "show");
    app.add_option("MODEL", model_, "a .pt2 file or a model of the zoo");
    app.add_option("--batch", batch_, "samples at once")
        ->type_name("N")
        ->default_str("the file's example; zoo: 1");
    app.add_option(
           "--image-size", image_size_, "the side of the images, in pixels")
        ->type_name("N");
    app.add_option("--classes", zoo_.classes, "zoo: classes to tell apart")
        ->type_name("N");
    app.add_option("--width", zoo_.width, "zoo: multiplies the channels")
        ->type_name("X")
        ->default_str("1");
    app.add_option("--stem", zoo_.stem, "zoo: cifar, for small images")
        ->type_name("S");
    app.add_option(
           "--depth", depth_, "names of a module's path that make a row")
        ->type_name("N")
        ->default_str("as fits a screen");
    app.add_flag("--nodes", nodes_, "every operator instead of every module");
    app.add_flag("--json", json_, "print JSON");
  }

  int run(const Invocation&, Console& console) override {
    check_usage();
    console.progress(cat("reading ", model_, " ..."));
    const graph::Graph network = load();
    const graph::Symbols symbols = bind(network);
    const auto summary = graph::summarize(shown_name(), network, symbols);
    const graph::SummaryStyle style{console.width(), depth_, nodes_};
    console.print(
        json_ ? graph::to_json(summary, style)
              : graph::to_text(summary, style));
    return kDone;
  }

 private:
  void check_usage() const {
    if (action_ != "show") {
      const auto meant = nearest(action_, {"show"});
      throw UsageError(
          action_.empty() ? "what to do with a model is missing."
                          : cat("unknown action \"", action_, "\"."),
          meant ? "Did you mean: temper model show?"
                : "For example: temper model show resnet18");
    }
    if (model_.empty())
      throw UsageError(
          "temper model show needs a model.",
          "For example: temper model show net.pt2, or resnet18");
    for (const auto& [flag, number] :
         std::vector<std::pair<std::string, std::optional<std::int64_t>>>{
             {"--batch", batch_}, {"--image-size", image_size_}})
      if (number && *number < 1)
        throw UsageError(cat(flag, " must be 1 or more, not ", *number, "."));
    if (depth_ < 0)
      throw UsageError(cat("--depth must be 1 or more, not ", depth_, "."));
  }

  bool from_zoo() const {
    return model::in_zoo(model_);
  }

  std::string shown_name() const {
    return from_zoo() ? model_ : fs::path(model_).filename().string();
  }

  graph::Graph load() const {
    if (from_zoo()) {
      model::ZooOptions options = zoo_;
      options.name = model_;
      options.image_size = image_size_;
      return model::build(options).graph;
    }
    const std::string ending = lower(fs::path(model_).extension().string());
    if (ending != ".pt2" && !fs::exists(model_)) refuse_name();
    for (const char* weights : {".pt", ".pth", ".safetensors"})
      if (ending == weights)
        throw Error(
            cat("[model] ", model_, " holds no graph to show."),
            "Export the model with torch.export and show the .pt2 file.");
    if (zoo_.classes || !zoo_.stem.empty() || zoo_.width != 1)
      throw UsageError(
          "--classes, --width and --stem are for models of the zoo.",
          cat(model_, " is a file: it has its own."));
    return graph::read_pt2(model_).graph;
  }

  [[noreturn]] void refuse_name() const {
    const auto names = zoo_names();
    const auto meant = nearest(model_, names);
    throw Error(
        cat("[model] there is no model \"", model_, "\" and no such file."),
        meant ? cat("Did you mean: ", *meant, "?")
              : cat("Give a .pt2 file, or one of the zoo: ",
                    join(names, ", "),
                    "."));
  }

  static std::int64_t example_batch(const graph::Graph& network) {
    for (const auto* input : network.inputs_of(graph::InputKind::kUser)) {
      const auto found = network.tensors.find(input->value);
      if (found != network.tensors.end() && !found->second.sizes.empty())
        return std::max<std::int64_t>(found->second.sizes[0].value, 1);
    }
    return 1;
  }

  graph::Symbols bind(const graph::Graph& network) const {
    const std::int64_t example = example_batch(network);
    const std::int64_t batch = batch_.value_or(from_zoo() ? 1 : example);
    if (const auto advice = graph::fixed_batch_advice(network);
        advice && batch != example)
      throw Error(
          cat("[model] ", model_, " takes a batch of ", example, " only."),
          *advice);
    graph::Symbols symbols = graph::bind_batch(network, batch);
    if (image_size_ && !from_zoo()) bind_image(network, symbols);
    return symbols;
  }

  // A file's images have another size only if it was exported for that.
  void bind_image(const graph::Graph& network, graph::Symbols& symbols) const {
    const auto inputs = network.inputs_of(graph::InputKind::kUser);
    const auto sizes =
        inputs.empty() ? graph::Sizes{} : network.meta(inputs[0]->value).sizes;
    if (sizes.size() != 4)
      throw Error(cat("[model] ", model_, " does not take images."));
    for (std::size_t i = 2; i < 4; ++i) {
      const auto names = graph::symbols_of(sizes[i]);
      if (names.size() == 1) symbols[names[0]] = *image_size_;
      const std::int64_t now = graph::evaluate(sizes[i], symbols);
      if (now != *image_size_)
        throw Error(
            cat("[model] ",
                model_,
                " takes images of ",
                sizes[2].value,
                " x ",
                sizes[3].value,
                " pixels only."),
            "Export it for that size, or with dynamic height and width.");
    }
  }

  std::string action_;
  std::string model_;
  std::optional<std::int64_t> batch_;
  std::optional<std::int64_t> image_size_;
  model::ZooOptions zoo_;
  int depth_ = 0;
  bool nodes_ = false;
  bool json_ = false;
};

} // namespace

std::unique_ptr<Command> make_model() {
  return std::make_unique<ModelCommand>();
}

} // namespace temper::cli
