#include "temper/model/export/export.h"

#include <unistd.h>

#include <algorithm>

#include "temper/base/error.h"
#include "temper/base/nearest.h"
#include "temper/base/text.h"
#include "temper/graph/pass/passes.h"
#include "temper/graph/pt2/pt2.h"
#include "temper/model/export/torchscript.h"

namespace temper::model {
namespace {

namespace fs = std::filesystem;

std::string formats_hint() {
  std::vector<std::string> parts;
  for (const auto& line : export_formats())
    parts.push_back(cat(line.name, " (", join(line.extensions, ", "), ")"));
  return cat("Formats: ", join(parts, ", "), ".");
}

} // namespace

const std::vector<ExportFormatLine>& export_formats() {
  static const std::vector<ExportFormatLine> table{
      {ExportFormat::kPt2, "pt2", {".pt2"}, "torch.export.load(FILE).module()"},
      {ExportFormat::kSafetensors,
       "safetensors",
       {".safetensors"},
       "model.load_state_dict(safetensors.torch.load_file(FILE))"},
      {ExportFormat::kTorchScript,
       "torchscript",
       {".pt", ".ts", ".torchscript"},
       "torch.jit.load(FILE)"},
  };
  return table;
}

const ExportFormatLine& export_format(ExportFormat format) {
  for (const auto& line : export_formats())
    if (line.format == format) return line;
  throw Bug("an export format outside the table");
}

ExportFormat format_for(const fs::path& path, const std::string& name) {
  const std::string extension = lower(path.extension().string());
  std::vector<std::string> names;
  for (const auto& line : export_formats()) {
    const auto& known = line.extensions;
    const bool fits =
        std::find(known.begin(), known.end(), extension) != known.end();
    if (name.empty() ? fits : name == line.name) return line.format;
    names.push_back(line.name);
  }
  if (!name.empty()) {
    const auto meant = nearest(name, names);
    throw Error(
        cat("[model] there is no export format \"", name, "\"."),
        meant ? cat("Did you mean ", *meant, "?") : formats_hint());
  }
  if (extension == ".pth" || extension == ".bin" || extension == ".ckpt")
    throw Error(
        cat("[model] temper writes no ",
            extension,
            " files: they are pickles, "
            "which run code where they are loaded."),
        "Write a .safetensors file: load_state_dict takes it as well.");
  throw Error(
      extension.empty()
          ? cat("[model] ",
                path.string(),
                " has no extension that says what "
                "to write.")
          : cat("[model] temper does not know how to write ", extension, "."),
      formats_hint());
}

void check_target(const fs::path& path, bool replace) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored))
    throw Error(
        cat("[model] cannot write ", path.string(), ": it is a folder."),
        "Name a file in it.");
  if (fs::exists(path, ignored) && !replace)
    throw Error(
        cat("[model] cannot write ", path.string(), ": it exists already."),
        "Choose another name, or say --force to replace it.");
  const fs::path folder =
      path.parent_path().empty() ? fs::path(".") : path.parent_path();
  if (!fs::is_directory(folder, ignored))
    throw Error(
        cat("[model] cannot write ",
            path.string(),
            ": there is no folder ",
            folder.string(),
            "."),
        "Make it first, or choose another.");
  if (::access(folder.c_str(), W_OK) != 0)
    throw Error(
        cat("[model] cannot write ",
            path.string(),
            ": the folder ",
            folder.string(),
            " cannot be written to."),
        "Choose another folder.");
}

graph::Weights state_dict(const graph::Program& program) {
  graph::Weights weights;
  for (const auto& input : program.graph.inputs)
    if (input.kind == graph::InputKind::kParameter ||
        (input.kind == graph::InputKind::kBuffer && input.persistent))
      weights[input.target] = program.weights.at(input.target);
  return weights;
}

std::string export_program(
    const graph::Program& program,
    const fs::path& path,
    const ExportOptions& options) {
  const auto tensors = state_dict(program);
  std::string mode = options.training ? ", train mode" : ", eval mode";
  if (options.format == ExportFormat::kSafetensors) {
    mode.clear();
    weights::Metadata metadata{{"format", "pt"}};
    if (!options.schema.empty()) metadata["temper.schema"] = options.schema;
    weights::write_safetensors(tensors, path, metadata, options.progress);
  } else {
    const auto passed = graph::switch_mode(program, options.training);
    graph::ExtraFiles extra;
    if (!options.schema.empty()) extra["schema.json"] = options.schema;
    if (options.format == ExportFormat::kPt2)
      graph::write_pt2(passed.program, path, extra);
    else
      write_torchscript(passed.program, path, extra);
  }
  return cat(
      export_format(options.format).name,
      mode,
      ", ",
      plural(static_cast<std::int64_t>(tensors.size()), "tensor"),
      ", ",
      bytes_text(fs::file_size(path)));
}

} // namespace temper::model
