// The table of the zoo, and the way from what was asked for to what is built.
#include "temper/model/zoo/zoo.h"

#include <algorithm>
#include <utility>

#include "temper/base/error.h"
#include "temper/base/nearest.h"
#include "temper/base/text.h"
#include "temper/model/zoo/init.h"
#include "temper/model/zoo/zoo_families.h"

namespace temper::model {
namespace {

// The options a family understands.
enum Takes : unsigned {
  kStem = 1,
  kWidth = 2,
  kDropout = 4,
  kImages = 8, // classes, image_size, channels
  kWidths = 16,
  kText = 32, // context, vocabulary
};

struct Entry {
  const char* name;
  const char* description;
  graph::Blueprint (*make)(const ZooSettings&);
  unsigned takes;
  ZooSettings defaults;
};

ZooSettings of_imagenet(double dropout = 0) {
  ZooSettings settings;
  settings.classes = 1000;
  settings.image_size = 224;
  settings.channels = 3;
  settings.dropout = dropout;
  return settings;
}

ZooSettings of_digits() {
  ZooSettings settings;
  settings.classes = 10;
  settings.image_size = 28;
  settings.channels = 1;
  settings.widths = {512, 256};
  return settings;
}

ZooSettings of_characters() {
  ZooSettings settings;
  settings.context = 64;
  settings.vocabulary = 65;
  return settings;
}

const std::vector<Entry>& zoo_entries() {
  static const std::vector<Entry> entries{
      {"mobilenet_v2",
       "MobileNetV2 as torchvision has it: small and quick, any width",
       mobilenet_v2,
       kStem | kWidth | kDropout | kImages,
       of_imagenet(0.2)},
      {"resnet18",
       "ResNet-18 as torchvision has it: the usual first choice for images",
       resnet18,
       kStem | kWidth | kImages,
       of_imagenet()},
      {"resnet34",
       "ResNet-34 as torchvision has it: deeper",
       resnet34,
       kStem | kWidth | kImages,
       of_imagenet()},
      {"resnet50",
       "ResNet-50 as torchvision has it: the usual yardstick",
       resnet50,
       kStem | kWidth | kImages,
       of_imagenet()},
      {"vit_tiny",
       "Vision transformer as timm's vit_tiny_patch16_224; smaller patches for "
       "smaller images",
       vit_tiny,
       kDropout | kImages,
       of_imagenet()},
      {"cnn",
       "One 3x3 convolution of 32 filters, pooling, one dense layer",
       cnn,
       kWidth | kDropout | kImages,
       of_digits()},
      {"mlp",
       "Dense layers of any widths, for small images or rows of a table",
       mlp,
       kWidths | kDropout | kImages,
       of_digits()},
      {"gpt_tiny",
       "Character-level transformer laid out as GPT-2: 4 blocks, 128 features",
       gpt_tiny,
       kDropout | kText,
       of_characters()},
  };
  return entries;
}

const Entry& entry_named(const std::string& name) {
  std::vector<std::string> names;
  for (const Entry& entry : zoo_entries()) {
    if (entry.name == name) return entry;
    names.emplace_back(entry.name);
  }
  const auto close = nearest(name, names);
  throw Error(
      cat("[model] there is no model ", name, " in the zoo."),
      close ? cat("Did you mean ", *close, "?")
            : cat("There are ", join(names, ", "), "."));
}

void refuse_unless_taken(
    const Entry& entry,
    bool given,
    unsigned option,
    const char* what) {
  if (!given || (entry.takes & option) != 0) return;
  std::vector<std::string> takers;
  for (const Entry& other : zoo_entries())
    if ((other.takes & option) != 0) takers.emplace_back(other.name);
  throw Error(
      cat("[model] ", entry.name, " has no ", what, " to set."),
      cat("Leave it out; it is an option of ", join(takers, ", "), "."));
}

void take(
    const std::optional<std::int64_t>& given,
    const char* what,
    std::int64_t least,
    std::int64_t most,
    std::int64_t& setting) {
  if (!given) return;
  if (*given < least || *given > most)
    throw Error(
        cat("[model] ", what, " = ", *given, " is out of range."),
        cat("It goes from ", least, " to ", count_text(most), "."));
  setting = *given;
}

void take_stem(const std::string& stem, ZooSettings& settings) {
  if (stem.empty()) return;
  if (stem != "cifar")
    throw Error(
        cat("[model] there is no stem ", stem, "."),
        "The only one is cifar, for images of about 32 pixels.");
  settings.cifar_stem = true;
  settings.image_size = 32;
}

void take_width(double width, ZooSettings& settings) {
  constexpr double kWidest = 16;
  if (!(width > 0 && width <= kWidest))
    throw Error(
        cat("[model] width = ", width, " is out of range."),
        cat("It multiplies the channels: above 0, up to ", kWidest, "."));
  settings.width = width;
}

void take_dropout(std::optional<double> dropout, ZooSettings& settings) {
  if (!dropout) return;
  if (!(*dropout >= 0 && *dropout < 1))
    throw Error(
        cat("[model] dropout = ", *dropout, " is out of range."),
        "It is the part that is dropped: from 0 to below 1.");
  settings.dropout = *dropout;
}

void take_widths(
    const std::vector<std::int64_t>& widths,
    ZooSettings& settings) {
  if (widths.empty()) return;
  settings.widths = widths;
  for (std::int64_t& width : settings.widths)
    take(width, "a width of mlp", 1, 1'000'000, width);
}

void check_image(const ZooSettings& settings) {
  const std::int64_t size = settings.image_size;
  if (settings.name == "cnn" && size < 4)
    throw Error(
        cat("[model] cnn cannot take images of ", plural(size, "pixel"), "."),
        "Its filter and its pooling need 4 or more.");
  if (settings.name != "vit_tiny") return;
  const std::int64_t patch = vit_patch(size);
  if (size % patch != 0)
    throw Error(
        cat("[model] vit_tiny cannot cut images of ",
            plural(size, "pixel"),
            " into patches of ",
            patch,
            "."),
        cat("Set data.image_size to ",
            (size + patch - 1) / patch * patch,
            "."));
}

ZooSettings resolve(const Entry& entry, const ZooOptions& asked) {
  const bool images = asked.classes || asked.image_size || asked.channels;
  refuse_unless_taken(entry, !asked.stem.empty(), kStem, "stem");
  refuse_unless_taken(entry, asked.width != 1, kWidth, "width");
  refuse_unless_taken(entry, asked.dropout.has_value(), kDropout, "dropout");
  refuse_unless_taken(entry, images, kImages, "classes or image size");
  refuse_unless_taken(entry, !asked.widths.empty(), kWidths, "widths");
  refuse_unless_taken(entry, !asked.shape.empty(), kWidths, "input's shape");
  refuse_unless_taken(
      entry, asked.context || asked.vocabulary, kText, "context or vocabulary");

  ZooSettings settings = entry.defaults;
  settings.name = entry.name;
  take_stem(asked.stem, settings);
  take_width(asked.width, settings);
  take_dropout(asked.dropout, settings);
  take_widths(asked.widths, settings);
  settings.shape = asked.shape;
  take(asked.classes, "classes", 1, 1'000'000, settings.classes);
  take(asked.image_size, "image_size", 1, 8192, settings.image_size);
  take(asked.channels, "channels", 1, 65'536, settings.channels);
  take(asked.context, "context", 1, 65'536, settings.context);
  take(asked.vocabulary, "vocabulary", 2, 1'000'000, settings.vocabulary);
  check_image(settings);
  return settings;
}

} // namespace

graph::Blueprint blueprint(const ZooOptions& options) {
  const Entry& entry = entry_named(options.name);
  return entry.make(resolve(entry, options));
}

graph::Program build(const ZooOptions& options) {
  return initialise(blueprint(options), options.seed);
}

std::vector<ZooLine> zoo_lines() {
  std::vector<ZooLine> lines;
  for (const Entry& entry : zoo_entries())
    lines.push_back({entry.name, entry.description});
  return lines;
}

bool in_zoo(const std::string& name) {
  return std::ranges::any_of(
      zoo_entries(), [&](const Entry& entry) { return entry.name == name; });
}

} // namespace temper::model
