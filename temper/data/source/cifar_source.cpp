#include "temper/data/source/cifar_source.h"

#include <algorithm>

#include "temper/base/digest/hash.h"
#include "temper/base/file/file.h"
#include "temper/base/text.h"
#include "temper/data/codec/planar.h"
#include "temper/data/sample/class_names.h"
#include "temper/data/sample/split.h"

namespace temper::data {
namespace {

constexpr int kSide = 32;
constexpr std::size_t kPixels = std::size_t{kSide} * kSide;

// The names in batches.meta.txt, when there are as many as classes.
std::vector<std::string> class_names_in(
    const std::filesystem::path& file,
    std::vector<std::string> built_in) {
  const auto text = read_small_file(file, 64 << 10);
  if (!text) return built_in;
  std::vector<std::string> names;
  for (const auto& line : temper::split(*text, '\n'))
    if (!trim(line).empty()) names.emplace_back(trim(line));
  return names.size() == built_in.size() ? names : built_in;
}

struct Files {
  std::vector<std::filesystem::path> found;
  std::vector<std::string> missing;
};

Files files_in(
    const std::filesystem::path& directory,
    const std::vector<std::string>& names) {
  Files files;
  for (const auto& name : names) {
    if (std::filesystem::is_regular_file(directory / name))
      files.found.push_back(directory / name);
    else
      files.missing.push_back(name);
  }
  return files;
}

Splits open_cifar(
    const CifarFormat& format,
    const std::filesystem::path& directory,
    const std::vector<std::string>& train_names,
    const std::string& val_name,
    const OpenOptions& options) {
  const Files train = files_in(directory, train_names);
  if (train.found.empty())
    throw Error(
        cat("[data] no ",
            format.name,
            " in ",
            directory.string(),
            ": there is no ",
            train_names.front(),
            "."),
        cat("Get it with `temper data get ", format.name, "`."));
  Splits made;
  std::vector<std::string> notes;
  if (!train.missing.empty())
    notes.push_back(
        cat(format.name,
            " is incomplete: ",
            join(train.missing, ", "),
            " not in ",
            directory.string()));
  auto source = std::make_shared<CifarSource>(format, train.found);
  const Files val = files_in(directory, {val_name});
  if (!val.found.empty()) {
    made = {source, std::make_shared<CifarSource>(format, val.found)};
  } else {
    made = divide(source, options);
    notes.push_back(
        cat(val_name,
            " is not in ",
            directory.string(),
            "; a part of the training images validates instead"));
  }
  made.notes = std::move(notes);
  return made;
}

} // namespace

CifarFormat cifar10_format() {
  return {
      "cifar10",
      1,
      cifar10_classes(),
      {.4914F, .4822F, .4465F},
      {.2470F, .2435F, .2616F}};
}

CifarFormat cifar100_format() {
  return {
      "cifar100",
      2,
      cifar100_classes(),
      {.5071F, .4865F, .4409F},
      {.2673F, .2564F, .2762F}};
}

CifarSource::CifarSource(
    CifarFormat format,
    const std::vector<std::filesystem::path>& files)
    : format_(std::move(format)),
      content_(files.size(), [files](std::size_t i) {
        return ContentFile{files[i].filename().string(), files[i].string()};
      }) {
  const std::size_t record = format_.record_bytes();
  for (const auto& path : files) {
    MappedFile mapped(path);
    if (mapped.size() % record != 0)
      throw Error(
          cat("[data] ",
              path.string(),
              " is not ",
              format_.name,
              ": its ",
              count_text(static_cast<std::int64_t>(mapped.size())),
              " bytes are not whole records of ",
              record,
              " bytes."),
          cat("Fetch it again; it is probably cut short. `temper data get ",
              format_.name,
              "` checks what it downloads."));
    mapped.expect_random_access();
    const auto records = static_cast<std::int64_t>(mapped.size() / record);
    files_.push_back({path.filename().string(), std::move(mapped), size_});
    size_ += records;
  }
  if (size_ == 0)
    throw Error(cat("[data] there is no image in ", format_.name, "."));
  info_.name = format_.name;
  info_.channels = 3;
  info_.height = kSide;
  info_.width = kSide;
  info_.classes = format_.classes;
  info_.mean = format_.mean;
  info_.deviation = format_.deviation;
}

const CifarSource::File& CifarSource::file_of(std::int64_t index) const {
  check(0 <= index && index < size_, "a CIFAR index is inside its source");
  // The last of empty files between two others starts where they all do.
  const auto after = std::upper_bound(
      files_.begin(), files_.end(), index, [](std::int64_t at, const File& f) {
        return at < f.first;
      });
  return *std::prev(after);
}

std::span<const std::uint8_t> CifarSource::record(std::int64_t index) const {
  const File& file = file_of(index);
  const std::size_t bytes = format_.record_bytes();
  return file.mapped.bytes().subspan(
      static_cast<std::size_t>(index - file.first) * bytes, bytes);
}

std::optional<std::int64_t> CifarSource::label(std::int64_t index) const {
  const auto bytes = record(index);
  const std::size_t value =
      bytes[static_cast<std::size_t>(format_.label_bytes) - 1];
  if (value >= info_.classes.size()) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

void CifarSource::read(std::int64_t index, Sample& sample) const {
  const auto bytes = record(index);
  const auto known = label(index);
  if (!known)
    throw BadSample(
        cat("[data] bad label in ",
            describe(index),
            ": there are ",
            info_.classes.size(),
            " classes, and it says ",
            int{bytes[static_cast<std::size_t>(format_.label_bytes) - 1]},
            "."),
        "Fetch the file again, or set data.bad = \"skip\".");
  sample.label = *known;
  sample.image.reshape(kSide, kSide, 3);
  interleave_planes(
      bytes.data() + format_.label_bytes, kPixels, 3, sample.image.pixels());
}

std::string CifarSource::describe(std::int64_t index) const {
  const File& file = file_of(index);
  return cat(file.name, " record ", index - file.first);
}

std::uint64_t CifarSource::fingerprint() const {
  Hasher hasher;
  hasher.add(format_.name);
  hasher.add(content_.value());
  return hasher.value();
}

Splits open_cifar10(
    const std::filesystem::path& directory,
    const OpenOptions& options) {
  CifarFormat format = cifar10_format();
  format.classes =
      class_names_in(directory / "batches.meta.txt", format.classes);
  return open_cifar(
      format,
      directory,
      {"data_batch_1.bin",
       "data_batch_2.bin",
       "data_batch_3.bin",
       "data_batch_4.bin",
       "data_batch_5.bin"},
      "test_batch.bin",
      options);
}

Splits open_cifar100(
    const std::filesystem::path& directory,
    const OpenOptions& options) {
  CifarFormat format = cifar100_format();
  format.classes =
      class_names_in(directory / "fine_label_names.txt", format.classes);
  return open_cifar(format, directory, {"train.bin"}, "test.bin", options);
}

} // namespace temper::data
