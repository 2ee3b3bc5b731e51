#include "temper/data/npy_source.h"

#include <algorithm>
#include <cstring>

#include "temper/base/hash.h"
#include "temper/base/text.h"
#include "temper/data/planar.h"

namespace temper::data {
namespace {

constexpr std::int64_t kLargestSide = 16384;

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::vector<std::string> sizes;
  for (const std::int64_t size : shape)
    sizes.push_back(std::to_string(size));
  return cat("[", join(sizes, ", "), "]");
}

[[noreturn]] void refuse(
    const NpyArray& array,
    const std::string& why,
    const std::string& hint = "") {
  throw Error(
      cat("[data] cannot use ",
          array.name,
          " ",
          shape_text(array.header.shape),
          ": ",
          why,
          "."),
      hint);
}

bool is_channels(std::int64_t size) {
  return size == 1 || size == 3;
}

} // namespace

NpySource::NpySource(const std::string& name, NpyArray inputs, NpyArray targets)
    : inputs_(std::move(inputs)), targets_(std::move(targets)) {
  info_.name = name;
  if (inputs_.header.shape.empty()) refuse(inputs_, "it is a single number");
  if (targets_.header.shape.empty()) refuse(targets_, "it is a single number");
  if (inputs_.header.items() == 0) refuse(inputs_, "it is empty");
  if (targets_.header.items() == 0) refuse(targets_, "it is empty");
  if (inputs_.header.shape[0] != targets_.header.shape[0])
    refuse(
        inputs_,
        cat("its targets, ",
            targets_.name,
            ", are ",
            targets_.header.shape[0],
            " and not ",
            inputs_.header.shape[0]));
  describe_inputs();
  describe_targets();
  Hasher hasher;
  for (const NpyArray* array : {&inputs_, &targets_}) {
    hasher.add(std::filesystem::path(array->name).filename().string());
    hasher.add(std::uint64_t{array->data.size()});
    hasher.add(shape_text(array->header.shape));
  }
  fingerprint_ = hasher.value();
}

void NpySource::describe_inputs() {
  const NpyHeader& header = inputs_.header;
  const auto& shape = header.shape;
  const bool bytes =
      header.kind == NpyKind::unsigned_integer && header.item_bytes == 1;
  if (!bytes || (shape.size() != 3 && shape.size() != 4)) {
    info_.input = Input::numbers;
    info_.shape.assign(shape.begin() + 1, shape.end());
    if (info_.shape.empty()) info_.shape = {1};
    return;
  }
  const bool grey = shape.size() == 3;
  planes_ = !grey && !is_channels(shape[3]);
  if (planes_ && !is_channels(shape[1]))
    refuse(
        inputs_,
        "images have one or three channels, in the last place or the second",
        "Save it as [N, H, W, C], or as floats to have plain numbers.");
  const std::int64_t height = planes_ ? shape[2] : shape[1];
  const std::int64_t width = planes_ ? shape[3] : shape[2];
  if (height > kLargestSide || width > kLargestSide)
    refuse(inputs_, "the images are too large");
  info_.input = Input::image;
  info_.height = static_cast<int>(height);
  info_.width = static_cast<int>(width);
  info_.channels = grey ? 1 : static_cast<int>(planes_ ? shape[1] : shape[3]);
}

void NpySource::describe_targets() {
  const NpyHeader& header = targets_.header;
  const std::int64_t row = header.row_items();
  if (!header.is_integer() || row != 1) {
    if (row > (1 << 20)) refuse(targets_, "a target is too large");
    info_.target = Target::numbers;
    info_.target_size = static_cast<int>(row);
    return;
  }
  info_.target = Target::label;
  std::int64_t highest = 0;
  const auto item = static_cast<std::size_t>(header.item_bytes);
  for (std::int64_t i = 0; i < header.items(); ++i) {
    const std::int64_t value = npy_integer(
        header, targets_.data.data() + static_cast<std::size_t>(i) * item);
    if (value < 0 || value >= kMostClasses)
      refuse(
          targets_,
          cat("number ", i, " is ", value, ", and labels count from 0"),
          "Number the classes from 0, or save the targets as floats to "
          "predict numbers.");
    highest = std::max(highest, value);
  }
  widen_classes(static_cast<std::size_t>(highest) + 1);
}

void NpySource::widen_classes(std::size_t count) {
  if (info_.target != Target::label) return;
  for (std::size_t i = info_.classes.size(); i < count; ++i)
    info_.classes.push_back(std::to_string(i));
}

std::optional<std::int64_t> NpySource::label(std::int64_t index) const {
  if (info_.target != Target::label) return std::nullopt;
  const auto item = static_cast<std::size_t>(targets_.header.item_bytes);
  return npy_integer(
      targets_.header,
      targets_.data.data() + static_cast<std::size_t>(index) * item);
}

void NpySource::read(std::int64_t index, Sample& sample) const {
  const auto input = npy_row(inputs_, index, sample.encoded);
  if (info_.input == Input::image) {
    sample.image.reshape(info_.width, info_.height, info_.channels);
    const std::size_t pixels = static_cast<std::size_t>(info_.width) *
        static_cast<std::size_t>(info_.height);
    if (planes_)
      interleave_planes(
          input.data(), pixels, info_.channels, sample.image.pixels());
    else
      std::memcpy(sample.image.pixels(), input.data(), input.size());
  } else {
    sample.numbers.resize(static_cast<std::size_t>(inputs_.header.row_items()));
    npy_to_floats(inputs_.header, input, sample.numbers.data());
  }
  if (info_.target == Target::label) {
    sample.label = *label(index);
    return;
  }
  const auto target = npy_row(targets_, index, sample.encoded);
  sample.target_numbers.resize(static_cast<std::size_t>(info_.target_size));
  npy_to_floats(targets_.header, target, sample.target_numbers.data());
}

std::string NpySource::describe(std::int64_t index) const {
  return cat(inputs_.name, "[", index, "]");
}

} // namespace temper::data
