#include "temper/data/source/mnist_source.h"

#include <cstring>

#include "temper/base/digest/hash.h"
#include "temper/base/text.h"
#include "temper/data/sample/class_names.h"
#include "temper/data/sample/split.h"

namespace temper::data {
namespace {

constexpr std::uint32_t kLargestIdxSide = 16384;

void require(
    bool holds,
    const std::filesystem::path& path,
    const std::string& why) {
  if (holds) return;
  throw Error(
      cat("[data] cannot use ", path.string(), ": ", why, "."),
      "Fetch the four files again; they may be of different datasets.");
}

std::filesystem::path required_file(
    const MnistFormat& format,
    const std::filesystem::path& directory,
    const std::string& part,
    int dimensions) {
  auto path = idx_file(directory, part, dimensions);
  if (path.empty())
    throw Error(
        cat("[data] no ",
            format.name,
            " in ",
            directory.string(),
            ": there is no ",
            part,
            "-idx",
            dimensions,
            "-ubyte, with .gz or without."),
        cat("Get it with `temper data get ", format.name, "`."));
  return path;
}

} // namespace

MnistFormat mnist_format() {
  return {"mnist", mnist_classes(), .1307F, .3081F};
}

MnistFormat fashion_mnist_format() {
  return {"fashion-mnist", fashion_mnist_classes(), .2860F, .3530F};
}

MnistSource::MnistSource(
    const MnistFormat& format,
    const std::filesystem::path& images,
    const std::filesystem::path& labels)
    : images_name_(images.filename().string()),
      images_(read_idx(images)),
      labels_(read_idx(labels)),
      // Unpacked, so that gunzip changes nothing.
      content_(2, [this, images, labels](std::size_t i) {
        const auto& path = i == 0 ? images : labels;
        return ContentFile{
            path.filename().string(),
            path.string(),
            i == 0 ? images_.data : labels_.data};
      }) {
  const auto& shape = images_.header.shape;
  require(
      images_.header.type == IdxType::u8 && shape.size() == 3,
      images,
      "images are bytes in three dimensions");
  require(
      labels_.header.type == IdxType::u8 && labels_.header.shape.size() == 1,
      labels,
      "labels are bytes in one dimension");
  require(
      shape[1] > 0 && shape[1] <= kLargestIdxSide && shape[2] > 0 &&
          shape[2] <= kLargestIdxSide,
      images,
      cat("images of ", shape[1], " x ", shape[2], " pixels are none"));
  require(
      shape[0] == labels_.header.shape[0],
      images,
      cat("it has ",
          shape[0],
          " images, and ",
          labels.filename().string(),
          " has ",
          labels_.header.shape[0],
          " labels"));
  require(shape[0] > 0, images, "it has no image");
  info_.name = format.name;
  info_.channels = 1;
  info_.height = static_cast<int>(shape[1]);
  info_.width = static_cast<int>(shape[2]);
  info_.classes = format.classes;
  info_.mean = {format.mean};
  info_.deviation = {format.deviation};
}

std::uint64_t MnistSource::fingerprint() const {
  Hasher hasher;
  hasher.add(info_.name);
  for (const std::uint32_t size : images_.header.shape)
    hasher.add(std::uint64_t{size});
  hasher.add(content_.value());
  return hasher.value();
}

std::optional<std::int64_t> MnistSource::label(std::int64_t index) const {
  const std::size_t value = labels_.data[static_cast<std::size_t>(index)];
  if (value >= info_.classes.size()) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

void MnistSource::read(std::int64_t index, Sample& sample) const {
  check(0 <= index && index < size(), "an MNIST index is inside its source");
  const auto known = label(index);
  if (!known)
    throw BadSample(
        cat("[data] bad label of ",
            describe(index),
            ": there are ",
            info_.classes.size(),
            " classes, and it says ",
            int{labels_.data[static_cast<std::size_t>(index)]},
            "."),
        "Fetch the file again, or set data.bad = \"skip\".");
  sample.label = *known;
  sample.image.reshape(info_.width, info_.height, 1);
  const std::size_t bytes = sample.image.bytes();
  std::memcpy(
      sample.image.pixels(),
      images_.data.data() + static_cast<std::size_t>(index) * bytes,
      bytes);
}

std::string MnistSource::describe(std::int64_t index) const {
  return cat(images_name_, " image ", index);
}

std::filesystem::path idx_file(
    const std::filesystem::path& directory,
    const std::string& part,
    int dimensions) {
  for (const char* separator : {"-", "."})
    for (const char* ending : {"", ".gz"}) {
      auto path =
          directory / cat(part, separator, "idx", dimensions, "-ubyte", ending);
      if (std::filesystem::is_regular_file(path)) return path;
    }
  return {};
}

Splits open_mnist(
    const MnistFormat& format,
    const std::filesystem::path& directory,
    const OpenOptions& options) {
  auto train = std::make_shared<MnistSource>(
      format,
      required_file(format, directory, "train-images", 3),
      required_file(format, directory, "train-labels", 1));
  const auto images = idx_file(directory, "t10k-images", 3);
  const auto labels = idx_file(directory, "t10k-labels", 1);
  if (!images.empty() && !labels.empty())
    return {train, std::make_shared<MnistSource>(format, images, labels)};
  Splits made = divide(train, options);
  made.notes.push_back(
      cat("t10k-images or t10k-labels is not in ",
          directory.string(),
          "; a part of the training images validates instead"));
  return made;
}

} // namespace temper::data
