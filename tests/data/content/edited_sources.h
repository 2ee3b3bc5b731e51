// Small datasets of every kind that lies in files, each a pure function of one
// label and one pixel (or value): written again with another of them, every
// file keeps its size.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "temper/base/digest/crc32c.h"
#include "temper/base/file/zip_writer.h"
#include "temper/base/text.h"
#include "temper/data/open/open.h"
#include "temper/data/pack/pack.h"
#include "tests/data/format/npy_file.h"
#include "tests/data/format_bytes.h"
#include "tests/data/small_image.h"
#include "tests/data/tar_writer.h"
#include "tests/temp_folder.h"

namespace temper::data {

using Files = std::map<std::string, std::string>; // contents by name

struct EditedKind {
  std::string name;
  std::function<Files(int label, int pixel)> files;
  std::string source; // with % for the folder
  std::string labels_in; // the file that the label is in
  std::string pixels_in;
  // A name that means the same as that of the file, if there is one.
  std::string renamed = {};
  std::string renamed_source = {};
};

constexpr int kEditedSamples = 8;

// Sample i has two classes in turn, but for the fifth, which is `label`.
inline int edited_label(int i, int label) {
  return i == 5 ? label : i % 2;
}
inline int edited_pixel(int i, int pixel) {
  return i == 3 ? pixel : 10 + i;
}

inline std::string edited_labels(int label) {
  std::string bytes;
  for (int i = 0; i < kEditedSamples; ++i)
    bytes += byte(edited_label(i, label));
  return bytes;
}

inline std::string edited_pixels(int pixel, int of_one) {
  std::string bytes;
  for (int i = 0; i < kEditedSamples; ++i)
    bytes += std::string(
        static_cast<std::size_t>(of_one),
        static_cast<char>(edited_pixel(i, pixel)));
  return bytes;
}

inline Files edited_folder(int label, int pixel) {
  Files files;
  for (int i = 0; i < kEditedSamples; ++i)
    files[cat("class", edited_label(i, label), "/", i, ".ppm")] =
        small_image(edited_pixel(i, pixel), 4, 4);
  return files;
}

inline Files edited_tar(int label, int pixel) {
  std::string tar;
  for (int i = 0; i < kEditedSamples; ++i)
    tar +=
        tar_member(cat(i, ".ppm"), small_image(edited_pixel(i, pixel), 4, 4)) +
        tar_member(cat(i, ".cls"), cat(edited_label(i, label)));
  return {{"a.tar", tar + tar_end()}};
}

// Protocol buffers by hand: a field of contents with a length below 128.
inline std::string proto(int number, const std::string& contents) {
  return byte(number << 3 | 2) + byte(static_cast<int>(contents.size())) +
      contents;
}

inline std::string tf_record(const std::string& data) {
  const auto little = [](std::uint64_t value, int bytes) {
    std::string text;
    for (int i = 0; i < bytes; ++i)
      text += static_cast<char>(value >> (8 * i));
    return text;
  };
  const auto sum = [&](const std::string& text) {
    return little(
        mask_crc32c(crc32c(
            {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()})),
        4);
  };
  const std::string length = little(data.size(), 8);
  return length + sum(length) + data + sum(data);
}

inline Files edited_tfrecord(int label, int pixel) {
  const auto feature = [](const std::string& key, const std::string& value) {
    return proto(1, proto(1, key) + proto(2, value));
  };
  std::string file;
  for (int i = 0; i < kEditedSamples; ++i)
    file += tf_record(proto(
        1,
        feature(
            "image",
            proto(1, proto(1, small_image(edited_pixel(i, pixel), 4, 4)))) +
            feature(
                "label", proto(3, proto(1, byte(edited_label(i, label)))))));
  return {{"a.tfrecord", file}};
}

inline Files edited_npy(int label, int pixel) {
  return {
      {"x.npy", npy_file("|u1", "(8, 4, 4, 3)", edited_pixels(pixel, 48))},
      {"x_labels.npy", npy_file("|u1", "(8,)", edited_labels(label))}};
}

inline Files edited_npz(int label, int pixel) {
  const tests::TempFolder folder;
  const Files arrays = edited_npy(label, pixel);
  ZipWriter writer(folder / "a.npz");
  writer.add("x.npy", arrays.at("x.npy"));
  writer.add("y.npy", arrays.at("x_labels.npy"));
  writer.commit();
  return {{"a.npz", tests::read_bytes(folder / "a.npz")}};
}

inline Files edited_csv(int label, int pixel) {
  std::string table = "a,b,kind\n";
  for (int i = 0; i < kEditedSamples; ++i)
    table +=
        cat(edited_pixel(i, pixel),
            ",",
            i,
            ",",
            edited_label(i, label) == 0 ? "cat" : "dog",
            "\n");
  return {{"t.csv", table}};
}

inline Files edited_text(int label, int pixel) {
  std::string text(200, 'a');
  text[20] = static_cast<char>('a' + label);
  text[50] = static_cast<char>('a' + pixel % 20);
  return {{"t.txt", text}};
}

inline Files edited_cifar(int label, int pixel) {
  std::string records;
  for (int i = 0; i < kEditedSamples; ++i)
    records += byte(edited_label(i, label)) +
        std::string(3072, static_cast<char>(edited_pixel(i, pixel)));
  return {{"data_batch_1.bin", records}};
}

inline Files edited_mnist(int label, int pixel) {
  const auto idx = [](const std::vector<std::uint32_t>& shape,
                      const std::string& data) {
    std::string file =
        byte(0) + byte(0) + byte(8) + byte(static_cast<int>(shape.size()));
    for (const std::uint32_t size : shape)
      file += big_endian32(size);
    return file + data;
  };
  return {
      {"train-images-idx3-ubyte", idx({8, 4, 4}, edited_pixels(pixel, 16))},
      {"train-labels-idx1-ubyte", idx({8}, edited_labels(label))}};
}

inline void write_files(
    const std::filesystem::path& folder,
    const Files& files) {
  for (const auto& [name, bytes] : files) {
    std::filesystem::create_directories((folder / name).parent_path());
    tests::write_bytes(folder / name, bytes);
  }
}

inline Files edited_pack(int label, int pixel) {
  const tests::TempFolder folder;
  write_files(folder / "photos", edited_folder(label, pixel));
  OpenOptions options;
  options.val_fraction = 0;
  write_pack(
      open_source("folder:" + folder.text("photos"), options), folder / "p");
  return {{"p.tpk", tests::read_bytes(folder / "p")}};
}

inline std::vector<EditedKind> edited_kinds() {
  return {
      {"folder", edited_folder, "folder:%", "", "class1/3.ppm"},
      {"tar",
       edited_tar,
       "tar:%/a.tar",
       "a.tar",
       "a.tar",
       "b.tar",
       "tar:%/b.tar"},
      {"tfrecord",
       edited_tfrecord,
       "tfrecord:%/a.tfrecord",
       "a.tfrecord",
       "a.tfrecord",
       "b.tfrecord",
       "tfrecord:%/b.tfrecord"},
      {"pack",
       edited_pack,
       "pack:%/p.tpk",
       "p.tpk",
       "p.tpk",
       "q.tpk",
       "pack:%/q.tpk"},
      {"npy", edited_npy, "npy:%/x.npy", "x_labels.npy", "x.npy"},
      {"npz",
       edited_npz,
       "npy:%/a.npz",
       "a.npz",
       "a.npz",
       "b.npz",
       "npy:%/b.npz"},
      {"csv",
       edited_csv,
       "csv:%/t.csv",
       "t.csv",
       "t.csv",
       "u.csv",
       "csv:%/u.csv"},
      {"text",
       edited_text,
       "text:%/t.txt",
       "t.txt",
       "t.txt",
       "u.txt",
       "text:%/u.txt"},
      {"cifar",
       edited_cifar,
       "cifar10",
       "data_batch_1.bin",
       "data_batch_1.bin"},
      {"mnist",
       edited_mnist,
       "mnist",
       "train-labels-idx1-ubyte",
       "train-images-idx3-ubyte"},
  };
}

// All of it trains.
inline std::shared_ptr<const IndexedSource> open_edited(
    std::string source,
    const std::filesystem::path& folder) {
  OpenOptions options;
  options.val_fraction = 0;
  options.sequence = 8;
  options.path = folder;
  const auto at = source.find('%');
  if (at != std::string::npos) source.replace(at, 1, folder.string());
  return open_source(source, options).train;
}

// Sets the time of the last write, which any program may.
inline void set_modified(
    const std::filesystem::path& file,
    const timespec& time) {
  const std::array<timespec, 2> times{time, time};
  ::utimensat(AT_FDCWD, file.c_str(), times.data(), 0);
}

} // namespace temper::data
