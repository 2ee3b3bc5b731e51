#include "temper/data/open/open.h"

#include "temper/base/environment.h"
#include "temper/base/text.h"
#include "temper/data/codec/decode.h"
#include "temper/data/fetch/locate.h"
#include "temper/data/open/fit.h"
#include "temper/data/open/source_name.h"
#include "temper/data/pack/pack.h"
#include "temper/data/source/cifar_source.h"
#include "temper/data/source/cmd_source.h"
#include "temper/data/source/csv_source.h"
#include "temper/data/source/folder_source.h"
#include "temper/data/source/mnist_source.h"
#include "temper/data/source/npy_source.h"
#include "temper/data/source/synthetic_source.h"
#include "temper/data/source/tar_source.h"
#include "temper/data/source/text_source.h"
#include "temper/data/source/tfrecord_source.h"

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
      {{"cmd:PROGRAM", "a program that writes a tar of samples"},
       [](const std::string& rest, const Options&) -> Splits {
         throw Error(
             cat("[data] cmd:",
                 rest,
                 " hands out samples one after the other, and here they are "
                 "wanted in any order."),
             "Train on it (data.source), or look at it with temper data "
             "check; for the rest, write its archive to a file: tar:FILE.");
       }},
      {{"synthetic:SPEC", "made up: images=1000,size=32,classes=10"},
       [](const std::string& rest, const Options& options) {
         return open_synthetic(rest, options);
       }},
  };
  return table;
}

// The parts as their kind has them, before a schema.
Splits open_raw(const std::string& given, const OpenOptions& options) {
  const std::string name = with_kind(given);
  for (const Kind& kind : kinds()) {
    const std::string key = kind.key();
    if (key.back() != ':') {
      if (name == key) return kind.open("", options);
      if (!name.starts_with(key + ":")) continue;
      OpenOptions placed = options;
      placed.path = name.substr(key.size() + 1);
      return kind.open("", placed);
    }
    if (!name.starts_with(key)) continue;
    const std::string rest = name.substr(key.size());
    if (rest.empty())
      throw Error(
          cat("[data] '", name, "' lacks what follows the colon."),
          cat("Write ", kind.shown.name, "."));
    return kind.open(rest, options);
  }
  if (name.starts_with(kOwnSource))
    throw Error(
        cat("[data] ",
            name,
            " is data that a C++ program brought, and no name opens it again."),
        "Use the program that trained on it.");
  refuse_source_name(name);
}

} // namespace

Splits open_source(const std::string& name, const OpenOptions& options) {
  return fitted(open_raw(name, options), options);
}

std::shared_ptr<const IndexedSource> open_other(
    const std::string& name,
    const std::string& part,
    OpenOptions options,
    std::vector<std::string>& notes) {
  options.whole = true;
  return fitted_other(open_raw(name, options), part, options, notes);
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
  if (!name.starts_with(kind)) return nullptr;
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
