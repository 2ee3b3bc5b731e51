// MNIST, Fashion-MNIST and whatever else comes as two IDX files: grey images
// and a byte of label for each.
#pragma once

#include <filesystem>

#include "temper/data/content/content.h"
#include "temper/data/format/idx.h"
#include "temper/data/sample/open_options.h"
#include "temper/data/sample/source.h"

namespace temper::data {

struct MnistFormat {
  std::string name; // "fashion-mnist"
  std::vector<std::string> classes;
  float mean = 0;
  float deviation = 0;
};

MnistFormat mnist_format();
MnistFormat fashion_mnist_format();

class MnistSource : public IndexedSource {
 public:
  // Error when the two do not belong together.
  MnistSource(
      const MnistFormat& format,
      const std::filesystem::path& images,
      const std::filesystem::path& labels);

  const SourceInfo& info() const override {
    return info_;
  }
  std::int64_t size() const override {
    return static_cast<std::int64_t>(labels_.data.size());
  }
  void read(std::int64_t index, Sample& sample) const override;
  std::optional<std::int64_t> label(std::int64_t index) const override;
  std::string describe(std::int64_t index) const override;
  std::uint64_t fingerprint() const override;
  const Content* content() const override {
    return &content_;
  }

 private:
  SourceInfo info_;
  std::string images_name_;
  IdxArray images_;
  IdxArray labels_;
  Content content_;
};

// The file of an IDX part, "train-images" with 3 dimensions, under any of its
// usual names: train-images-idx3-ubyte or train-images.idx3-ubyte, with .gz or
// without. Empty when there is none.
std::filesystem::path idx_file(
    const std::filesystem::path& directory,
    const std::string& part,
    int dimensions);

Splits open_mnist(
    const MnistFormat& format,
    const std::filesystem::path& directory,
    const OpenOptions& options);

} // namespace temper::data
