#include "temper/data/source/npy_source.h"

#include <algorithm>
#include <cstring>

#include "temper/base/digest/hash.h"
#include "temper/base/text.h"
#include "temper/data/codec/planar.h"

namespace temper::data {
namespace {

constexpr std::int64_t kLargestNpySide = 16384;

std::string shape_text(const std::vector<std::int64_t>& shape) {
  return cat("[", numbers_text(shape, ", "), "]");
}

[[noreturn]] void refuse_array(
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

NpySource::NpySource(
    const std::string& name,
    NpyArray inputs,
    NpyArray targets,
    bool one_hot_is_class)
    : inputs_(std::move(inputs)),
      targets_(std::move(targets)),
      one_hot_(one_hot_is_class),
      content_(2, [this](std::size_t i) {
        const NpyArray& array = i == 0 ? inputs_ : targets_;
        return ContentFile{
            std::filesystem::path(array.name).filename().string(),
            array.path,
            array.is_file ? std::span<const std::uint8_t>() : array.data};
      }) {
  info_.name = name;
  if (inputs_.header.shape.empty())
    refuse_array(inputs_, "it is a single number");
  if (targets_.header.shape.empty())
    refuse_array(targets_, "it is a single number");
  if (inputs_.header.items() == 0) refuse_array(inputs_, "it is empty");
  if (targets_.header.items() == 0) refuse_array(targets_, "it is empty");
  if (inputs_.header.shape[0] != targets_.header.shape[0])
    refuse_array(
        inputs_,
        cat("its targets, ",
            targets_.name,
            ", are ",
            targets_.header.shape[0],
            " and not ",
            inputs_.header.shape[0]));
  describe_inputs();
  describe_targets();
}

std::uint64_t NpySource::fingerprint() const {
  Hasher hasher;
  for (const NpyArray* array : {&inputs_, &targets_}) {
    hasher.add(static_cast<std::uint64_t>(array->header.kind));
    hasher.add(static_cast<std::uint64_t>(array->header.item_bytes));
    hasher.add(shape_text(array->header.shape));
  }
  hasher.add(content_.value());
  return hasher.value();
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
    refuse_array(
        inputs_,
        "images have one or three channels, in the last place or the second",
        "Save it as [N, H, W, C], or as floats to have plain numbers.");
  const std::int64_t height = planes_ ? shape[2] : shape[1];
  const std::int64_t width = planes_ ? shape[3] : shape[2];
  if (height > kLargestNpySide || width > kLargestNpySide)
    refuse_array(inputs_, "the images are too large");
  info_.input = Input::image;
  info_.height = static_cast<int>(height);
  info_.width = static_cast<int>(width);
  info_.channels = grey ? 1 : static_cast<int>(planes_ ? shape[1] : shape[3]);
}

void NpySource::describe_targets() {
  const NpyHeader& header = targets_.header;
  const std::int64_t row = header.row_items();
  const bool asked_for_numbers = !one_hot_;
  one_hot_ = one_hot_ && targets_are_one_hot();
  if (one_hot_) {
    info_.target = Target::label;
    for (std::int64_t i = 0; i < row; ++i)
      info_.classes.push_back(std::to_string(i));
    note_ =
        cat("the targets are one-hot rows and are taken for ",
            row,
            " classes; train.loss = \"mse\" or \"bce\" takes them for "
            "numbers");
    return;
  }
  if (!header.is_integer() || row != 1) {
    if (row > (1 << 20)) refuse_array(targets_, "a target is too large");
    if (!asked_for_numbers)
      note_ =
          cat("the targets are ",
              header.is_integer() ? "rows of numbers" : "floats",
              " and are taken for ",
              row == 1 ? "a number" : cat(row, " numbers"),
              " to predict",
              row == 1 ? "; save them as integers if they are classes"
                  : targets_are_bits()
                  ? "; train.loss = \"bce\" takes each 0 or 1 for a label of "
                    "its own"
                  : "");
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
      refuse_array(
          targets_,
          cat("number ", i, " is ", value, ", and labels count from 0"),
          "Number the classes from 0, or save the targets as floats to "
          "predict numbers.");
    highest = std::max(highest, value);
  }
  for (std::int64_t i = 0; i <= highest; ++i)
    info_.classes.push_back(std::to_string(i));
}

bool NpySource::targets_are_one_hot() const {
  const NpyHeader& header = targets_.header;
  const std::int64_t row = header.row_items();
  if (header.shape.size() != 2 || row < 2 || row >= kMostClasses) return false;
  std::vector<std::uint8_t> scratch;
  std::vector<float> numbers(static_cast<std::size_t>(row));
  for (std::int64_t i = 0; i < header.shape[0]; ++i) {
    npy_to_floats(header, npy_row(targets_, i, scratch), numbers.data());
    const auto ones = std::count(numbers.begin(), numbers.end(), 1.0F);
    const auto zeros = std::count(numbers.begin(), numbers.end(), 0.0F);
    if (ones != 1 || zeros != row - 1) return false;
  }
  return true;
}

bool NpySource::targets_are_bits() const {
  const NpyHeader& header = targets_.header;
  std::vector<std::uint8_t> scratch;
  std::vector<float> numbers(static_cast<std::size_t>(header.row_items()));
  for (std::int64_t i = 0; i < header.shape[0]; ++i) {
    npy_to_floats(header, npy_row(targets_, i, scratch), numbers.data());
    for (const float number : numbers)
      if (number != 0 && number != 1) return false;
  }
  return true;
}

std::optional<std::int64_t> NpySource::label(std::int64_t index) const {
  if (info_.target != Target::label) return std::nullopt;
  if (one_hot_) {
    std::vector<std::uint8_t> scratch;
    std::vector<float> numbers(info_.classes.size());
    npy_to_floats(
        targets_.header, npy_row(targets_, index, scratch), numbers.data());
    return std::max_element(numbers.begin(), numbers.end()) - numbers.begin();
  }
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
