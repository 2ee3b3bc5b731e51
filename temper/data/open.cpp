#include "temper/data/open.h"

#include <algorithm>

#include "temper/base/environment.h"
#include "temper/base/nearest.h"
#include "temper/base/text.h"
#include "temper/data/cifar_source.h"
#include "temper/data/cmd_source.h"
#include "temper/data/csv_source.h"
#include "temper/data/decode.h"
#include "temper/data/folder_source.h"
#include "temper/data/locate.h"
#include "temper/data/mnist_source.h"
#include "temper/data/npy_source.h"
#include "temper/data/pack.h"
#include "temper/data/synthetic_source.h"
#include "temper/data/tar_source.h"
#include "temper/data/text_source.h"
#include "temper/data/tfrecord_source.h"

namespace temper::data {
namespace {

using Options = OpenOptions;

std::filesystem::path place_of(const char* dataset, const Options& options) {
  return locate(dataset, options.path, current_environment());
}

// A name with a colon takes what follows it, in `rest`.
struct Kind {
  SourceKind shown;
  Splits (*open)(const std::string& rest, const Options& options);

  // "cifar10", or "csv:" of "csv:PATH".
  std::string key() const {
    const auto colon = shown.name.find(':');
    return colon == std::string::npos ? shown.name
                                      : shown.name.substr(0, colon + 1);
  }
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> table{
      {{"cifar10", "60,000 photos of 32 x 32 in 10 classes"},
       [](const std::string&, const Options& options) {
         return open_cifar10(place_of("cifar10", options), options);
       }},
      {{"cifar100", "60,000 photos of 32 x 32 in 100 classes"},
       [](const std::string&, const Options& options) {
         return open_cifar100(place_of("cifar100", options), options);
       }},
      {{"mnist", "70,000 handwritten digits of 28 x 28"},
       [](const std::string&, const Options& options) {
         return open_mnist(mnist_format(), place_of("mnist", options), options);
       }},
      {{"fashion-mnist", "70,000 pieces of clothing of 28 x 28"},
       [](const std::string&, const Options& options) {
         return open_mnist(
             fashion_mnist_format(),
             place_of("fashion-mnist", options),
             options);
       }},
      {{"folder:PATH", "images in one folder a class"},
       [](const std::string& rest, const Options& options) {
         return open_folder(rest, options);
       }},
      {{"tar:PATTERN", "WebDataset shards: train-{000..009}.tar"},
       [](const std::string& rest, const Options& options) {
         return open_tar(rest, options);
       }},
      {{"tfrecord:PATTERN", "TFRecord shards of tf.Examples"},
       [](const std::string& rest, const Options& options) {
         return open_tfrecord(rest, options);
       }},
      {{"pack:PATH", "what temper data pack wrote"},
       [](const std::string& rest, const Options& options) {
         return open_pack(rest, options);
       }},
      {{"npy:PATH", "NumPy arrays: a .npz, a folder of .npy, or one .npy"},
       [](const std::string& rest, const Options& options) {
         return open_npy(rest, options);
       }},
      {{"csv:PATH", "a table; data.target names the column to predict"},
       [](const std::string& rest, const Options& options) {
         return open_csv(rest, options);
       }},
      {{"text:PATH", "text as bytes; text:chars:PATH as characters"},
       [](const std::string& rest, const Options& options) {
         return open_text(rest, options);
       }},
      {{"synthetic:SPEC", "made up: images=1000,size=32,classes=10"},
       [](const std::string& rest, const Options& options) {
         return open_synthetic(rest, options);
       }},
  };
  return table;
}

// What an existing file or folder is probably meant as.
std::string kind_for_path(const std::filesystem::path& path) {
  if (std::filesystem::is_directory(path)) return "folder:";
  const std::string ending = lower(path.extension().string());
  if (ending == ".csv" || ending == ".tsv") return "csv:";
  if (ending == ".tpk") return "pack:";
  if (ending == ".tar") return "tar:";
  if (ending == ".tfrecord") return "tfrecord:";
  if (ending == ".npy" || ending == ".npz") return "npy:";
  if (ending == ".txt") return "text:";
  return "";
}

[[noreturn]] void refuse(const std::string& name) {
  std::vector<std::string> keys;
  for (const Kind& kind : kinds())
    keys.push_back(kind.key());
  std::error_code unreadable;
  std::string hint;
  if (std::filesystem::exists(name, unreadable)) {
    const std::string kind = kind_for_path(name);
    if (!kind.empty()) hint = cat("Did you mean ", kind, name, "?");
  }
  if (hint.empty()) {
    const auto colon = name.find(':');
    const bool has_rest = colon != std::string::npos;
    const std::string word = has_rest ? name.substr(0, colon + 1) : name;
    const std::string rest = has_rest ? name.substr(colon + 1) : "";
    const auto close = nearest(word, keys);
    if (close)
      hint =
          cat("Did you mean ",
              *close,
              close->back() == ':' ? (rest.empty() ? "PATH" : rest) : "",
              "?");
    else
      hint = cat("There are ", join(keys, ", "), ".");
  }
  throw Error(cat("[data] no data source '", name, "'."), hint);
}

} // namespace

Splits open_source(const std::string& name, const OpenOptions& options) {
  for (const Kind& kind : kinds()) {
    const std::string key = kind.key();
    if (key.back() != ':') {
      if (name == key) return kind.open("", options);
      continue;
    }
    if (!starts_with(name, key)) continue;
    const std::string rest = name.substr(key.size());
    if (rest.empty())
      throw Error(
          cat("[data] '", name, "' lacks what follows the colon."),
          cat("Write ", kind.shown.name, "."));
    return kind.open(rest, options);
  }
  refuse(name);
}

const std::vector<SourceKind>& source_kinds() {
  static const std::vector<SourceKind> shown = [] {
    std::vector<SourceKind> all;
    for (const Kind& kind : kinds())
      all.push_back(kind.shown);
    return all;
  }();
  return shown;
}

std::string default_source(const Environment& environment) {
  if (is_there("fashion-mnist", environment)) return "fashion-mnist";
  return "synthetic:images=10000,size=28,channels=1,classes=10";
}

std::unique_ptr<StreamSource> open_stream(
    const std::string& name,
    double patience_s) {
  const std::string kind = "cmd:";
  if (!starts_with(name, kind)) return nullptr;
  CmdOptions options;
  options.command = name.substr(kind.size());
  options.patience_s = patience_s;
  options.info.name = name;
  options.info.channels = 3;
  options.decode = [](std::span<const std::uint8_t> bytes, Sample& sample) {
    DecodeOptions colour;
    colour.channels = 3;
    decode_image(bytes, colour, sample.image, sample.warnings);
  };
  return std::make_unique<CmdSource>(std::move(options));
}

} // namespace temper::data
