// A model on its way out: as a .pt2 that torch.export.load takes, as a
// safetensors state dict, as TorchScript. Used by `temper export`.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "temper/graph/ir/program.h"
#include "temper/weights/safetensors.h"

namespace temper::model {

enum class ExportFormat { kPt2, kSafetensors, kTorchScript };

struct ExportFormatLine {
  ExportFormat format;
  std::string name; // "torchscript"
  std::vector<std::string> extensions; // the usual one first
  std::string python; // how Python loads it, FILE standing for its path
};
const std::vector<ExportFormatLine>& export_formats();
const ExportFormatLine& export_format(ExportFormat format);

// The format of that name, or, when `name` is empty, of the file's extension.
// Error, with the nearest, when there is none.
ExportFormat format_for(
    const std::filesystem::path& path,
    const std::string& name);

// Error when nothing can be written there: the folder is missing or refuses,
// or a file is there and `replace` was not said. Asked before the long work.
void check_target(const std::filesystem::path& path, bool replace);

// The same as model.state_dict() in Python: parameters and persistent buffers.
graph::Weights state_dict(const graph::Program& program);

struct ExportOptions {
  ExportFormat format = ExportFormat::kPt2;
  bool training = false; // dropout on, batch statistics; not in a state dict
  weights::BytesProgress progress; // of the formats that tell
  // The schema's JSON, which goes along: an extra file schema.json of .pt2 and
  // TorchScript, "temper.schema" among the metadata of safetensors. Empty:
  // none.
  std::string schema = {};
};

// Says what was written: "TorchScript, eval mode, 62 tensors, 44.7 MiB".
std::string export_program(
    const graph::Program& program,
    const std::filesystem::path& path,
    const ExportOptions& options);

} // namespace temper::model
