// From a name to a source: `data.source = "cifar10"`, `"folder:photos"`. One
// const table in open.cpp knows every kind there is.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "temper/base/environment.h"
#include "temper/data/source.h"

namespace temper::data {

struct OpenOptions {
  std::filesystem::path path; // data.path: where a named dataset's files are
  double val_fraction = 0.1; // where the source has no validation part
  std::uint64_t seed = 0; // of that split
  std::string target; // csv: the target column; empty: the last one
  int sequence = 128; // text: tokens in a window
};

// Error when the name is unknown (with the nearest one), the files are missing
// (with where they were looked for and how to get them) or malformed.
Splits open_source(const std::string& name, const OpenOptions& options);

// What to train on when nobody said: Fashion-MNIST where it is on the machine
// (Debian's package), else made-up images. Needs no network.
std::string default_source(const Environment& environment);

// "cmd:PROGRAM ARGS", whose samples come as the program writes them; read by
// a StreamLoader, which is an error when it is silent for `patience_s`. Nothing
// when the name is not that of a stream.
std::unique_ptr<StreamSource> open_stream(
    const std::string& name,
    double patience_s = 60);

struct SourceKind {
  std::string name; // "cifar10", "folder:PATH"
  std::string help; // one line
};
const std::vector<SourceKind>& source_kinds();

} // namespace temper::data
