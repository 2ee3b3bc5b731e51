// Opens a source by its name: `data.source = "cifar10"`, `"folder:photos"`. One
// const table in open.cpp knows every kind there is.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "temper/base/environment.h"
#include "temper/data/sample/open_options.h"
#include "temper/data/sample/source.h"

namespace temper::data {

// The name of data that a program brings by itself begins so, in its run's
// config: "own:spirals". No such name can be opened.
constexpr const char* kOwnSource = "own:";

// Error when the name is unknown (with the nearest one), the files are missing
// (with where they were looked for and how to get them), malformed, or do not
// fit the schema.
Splits open_source(const std::string& name, const OpenOptions& options);

// All of another source, or the validation part of one that comes in parts.
// `options.schema` is needed. What was left out is added to `notes`, where
// `part` is what the samples are for: "validation", "test".
std::shared_ptr<const IndexedSource> open_other(
    const std::string& name,
    const std::string& part,
    OpenOptions options,
    std::vector<std::string>& notes);

// The source to train on when nobody said: Fashion-MNIST where it is on the
// machine (Debian's package), else made-up images. Needs no network.
std::string default_source(const Environment& environment);

// "cmd:PROGRAM ARGS", whose samples come as the program writes them; read by a
// StreamLoader, which is an error when it is silent for `patience_s`. Null when
// the name is not that of a stream.
std::unique_ptr<StreamSource> open_stream(
    const std::string& name,
    double patience_s = 60);

struct SourceKind {
  std::string name; // "cifar10", "folder:PATH"
  std::string help; // one line
};
const std::vector<SourceKind>& source_kinds();

} // namespace temper::data
