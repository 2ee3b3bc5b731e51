#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>

#include "temper/base/nearest.h"
#include "temper/base/text.h"
#include "temper/cli/commands/preprocessing.h"
#include "temper/cli/terminal/command.h"
#include "temper/cli/terminal/progress_line.h"
#include "temper/cli/terminal/start.h"
#include "temper/config/load.h"
#include "temper/data/sample/schema.h"
#include "temper/graph/pass/wrap.h"
#include "temper/graph/pt2/pt2.h"
#include "temper/journal/run_directory.h"
#include "temper/model/export/export.h"
#include "temper/model/zoo/zoo.h"
#include "temper/session/trained_model.h"
#include "temper/weights/load_weights.h"
#include "temper/weights/weights_file.h"

namespace temper::cli {
namespace {

namespace fs = std::filesystem;

class ExportCommand : public Command {
 public:
  Manual manual() const override {
    return {
        "Writes a model to a file that other programs load. MODEL is a run, "
        "for the model it trained, with the weights of its best checkpoint: "
        "its folder, its name or a part of it, or latest. Nothing else is "
        "needed, neither the data nor the file the model came from. Or MODEL "
        "is a .pt2 export or a model of the zoo. --weights puts other weights "
        "into it: a .safetensors, .pth or .pt2 file, or a run's folder, for "
        "its latest. Reading weights never runs code.\n\n"
        "What is written follows from the file's extension. .pt2 is loaded by "
        "torch.export.load(FILE).module(), .pt (TorchScript) by "
        "torch.jit.load(FILE), and .safetensors is a state dict under the "
        "names that torchvision and timm use. The file is there when it is "
        "whole.\n\n"
        "A run's schema (normalisation, class names, columns, vocabulary) goes "
        "along in the file. With --with-preprocessing it is computed inside: "
        "pixels from 0 to 255 (uint8, N x H x W x C) or raw columns go in, "
        "probabilities or the target's own units come out. docs/use-a-model.md "
        "has the Python for each.\n\n"
        "Models are written for use (dropout off, BatchNorm over its running "
        "statistics); with --train, for more training.",
        {{"temper export latest --to net.pt2", "what the last run has learnt"},
         {"temper export runs/NAME --with-preprocessing --to net.pt2",
          "pixels in, probabilities out"},
         {"temper export net.pt2 --weights trained.safetensors --to net.pt",
          "TorchScript for C++ and Core ML"},
         {"temper export resnet18 --weights resnet18.pth --to resnet18.pt2",
          "torchvision's weights as an exported program"},
         {"temper export net.pt2 --to net.safetensors", "the weights alone"}},
        {{0, "written"},
         {1, "failed; nothing was written"},
         {2, "wrong flags"}}};
  }

  void declare(CLI::App& app) override {
    app.add_option(
        "MODEL",
        model_,
        "a run (folder, name, latest), a .pt2 file or a model of the zoo");
    app.add_option("--dir", directory_, "where the runs are")
        ->type_name("DIR")
        ->default_str("runs");
    app.add_option("--weights", weights_, "trained weights for it")
        ->type_name("FILE");
    app.add_option("--to", to_, "the file to write")->type_name("FILE");
    app.add_option(
           "--format",
           format_,
           "pt2, safetensors or torchscript, whatever the extension")
        ->type_name("F");
    app.add_flag(
        "--with-preprocessing",
        with_preprocessing_,
        "scale inputs and outputs inside the model, as the run's schema says");
    app.add_flag("--eval", eval_, "for use: the default");
    app.add_flag("--train", train_, "for more training");
    app.add_flag("--force", force_, "replace the file if it exists");
    app.add_option("--classes", zoo_.classes, "zoo: how many it tells apart")
        ->type_name("N");
    app.add_option("--width", zoo_.width, "zoo: a factor for its channels")
        ->type_name("X");
    app.add_option("--image-size", zoo_.image_size, "zoo: pixels a side")
        ->type_name("N");
    app.add_option("--channels", zoo_.channels, "zoo: of an image")
        ->type_name("N");
    app.add_option("--stem", zoo_.stem, "zoo: cifar, for small images")
        ->type_name("S");
  }

  int run(const Invocation& invocation, Console& console) override {
    if (model_.empty())
      throw UsageError(
          "which model to export is missing.", "See temper help export.");
    if (to_.empty())
      throw UsageError(
          "where to write is missing.",
          "Say --to net.pt2, net.pt or "
          "net.safetensors.");
    if (eval_ && train_)
      throw UsageError("--eval and --train exclude each other.");
    const fs::path to = to_;
    const auto format = model::format_for(to, format_);
    if (with_preprocessing_ && format == model::ExportFormat::kSafetensors)
      throw UsageError(
          "[model] safetensors holds weights and no graph, so preprocessing "
          "cannot go into it.",
          "Write a .pt2 or .pt file; or leave --with-preprocessing out: the "
          "schema goes along in the file's metadata.");
    model::check_target(to, force_);
    if (format == model::ExportFormat::kTorchScript) need_libtorch(invocation);

    console.progress(cat("opening ", model_));
    graph::Program program = open();
    std::string origin = model_;
    if (!weights_.empty()) {
      console.progress(cat("reading ", weights_));
      const auto file = weights::read_weights(weights_);
      auto loaded = weights::load_weights(program, file.weights, file.name);
      program = std::move(loaded.program);
      origin += cat(" with ", loaded.report);
    } else if (model::in_zoo(model_)) {
      origin += " with fresh weights";
    }
    std::string inside;
    if (with_preprocessing_) inside = put_preprocessing_into(program);
    console.progress(cat("writing ", to_));
    ProgressLine line(console);
    const std::string written = model::export_program(
        program,
        to,
        {format,
         train_,
         [&](std::uint64_t done, std::uint64_t total) {
           line.show(cat("writing ", to_), done, total, true);
         },
         schema_});
    std::string python = model::export_format(format).python;
    python.replace(python.find("FILE"), 4, cat("\"", to_, "\""));
    console.print(
        cat(to_,
            ": ",
            origin,
            "\n",
            written,
            schema_.empty() ? "" : ", with its schema",
            "\n",
            inside.empty() ? "" : inside + "\n",
            "in Python: ",
            python,
            "\n"));
    return kDone;
  }

 private:
  graph::Program open() {
    if (model::in_zoo(model_)) {
      zoo_.name = model_;
      return model::build(zoo_);
    }
    const fs::path path = model_;
    if (fs::exists(path / "config.toml")) return open_run({path});
    if (lower(path.extension().string()) == ".pt2") {
      schema_ = graph::read_pt2_extra(path, "schema.json").value_or("");
      return graph::read_pt2(path);
    }
    // A folder may well have the name of a run: that of its data.
    if (fs::exists(path) && !fs::is_directory(path))
      throw Error(
          cat("[model] ",
              model_,
              " is not a .pt2 file: it has weights or "
              "code, but no graph."),
          "Export the model in Python with torch.export.save, or name a "
          "model of the zoo and give this as --weights.");
    if (const auto run = named_run()) return open_run(*run);
    throw unknown_model();
  }

  // No value when no run of that name is in the folder of runs.
  std::optional<journal::RunDirectory> named_run() const {
    const auto runs = journal::list_runs(directory_);
    const bool meant = model_ == "latest" ||
        std::any_of(runs.begin(), runs.end(), [&](const auto& run) {
                         return contains(run.name(), model_);
                       });
    if (!meant) return std::nullopt;
    return journal::find_run(directory_, model_);
  }

  Error unknown_model() const {
    std::vector<std::string> names;
    for (const auto& each : model::zoo_lines())
      names.push_back(each.name);
    const std::string zoo = join(names, ", ");
    for (const auto& run : journal::list_runs(directory_))
      names.push_back(run.name());
    const auto meant = nearest(model_, names);
    return Error(
        cat("[model] there is no model or run \"", model_, "\"."),
        meant ? cat("Did you mean ", *meant, "?")
              : cat("Name a run of ",
                    directory_,
                    ", a .pt2 file, or one of the zoo: ",
                    zoo,
                    "."));
  }

  graph::Program open_run(const journal::RunDirectory& run) {
    auto program = session::model_of_run(run);
    if (weights_.empty()) weights_ = session::best_weights(run).string();
    schema_ = session::schema_of_run(run);
    const auto config = config::load(run.config(), {}).config;
    loss_ = config.train.loss;
    reconstructs_ = config.train.task == "autoencode";
    return program;
  }

  // Says what is inside now; the schema says it, too.
  std::string put_preprocessing_into(graph::Program& program) {
    if (schema_.empty())
      throw Error(
          cat("[model] ",
              model_,
              " has no schema: nothing says how its inputs "
              "are to be prepared."),
          "Runs of this temper write schema.json, and their exports carry it.");
    const auto schema = data::parse_schema(schema_, cat(model_, "'s schema"));
    if (schema.input == data::Input::tokens)
      return "text needs nothing inside: the numbers of its tokens go in, and "
             "the schema has the vocabulary";
    const auto before = input_steps(schema);
    // A reconstruction is in the units of the prepared input.
    const auto after =
        reconstructs_ ? graph::OutputSteps{} : output_steps(schema, loss_);
    graph::Passed passed = graph::wrap_model(program, before, after);
    program = std::move(passed.program);
    schema_ = schema_of_export(schema_, before, after);
    return passed.report;
  }

  std::string model_;
  std::string directory_ = "runs";
  std::string weights_;
  std::string schema_; // JSON; empty: none is known
  std::string loss_; // train.loss of a run
  bool reconstructs_ = false; // train.task = "autoencode"
  std::string to_;
  std::string format_;
  bool eval_ = false;
  bool train_ = false;
  bool with_preprocessing_ = false;
  bool force_ = false;
  model::ZooOptions zoo_;
};

} // namespace

std::unique_ptr<Command> make_export() {
  return std::make_unique<ExportCommand>();
}

} // namespace temper::cli
