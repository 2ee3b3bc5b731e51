#include "temper/data/format/npy.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "temper/base/error.h"
#include "temper/base/file/mapped_file.h"
#include "temper/base/text.h"

namespace temper::data {
namespace {

// The bits of one item, whatever the file's byte order. The machine's is
// little-endian everywhere temper runs; the shifts hold on any.
template <class Bits>
Bits bits_at(const std::uint8_t* item, bool big_endian) {
  Bits bits = 0;
  for (std::size_t i = 0; i < sizeof(Bits); ++i) {
    const std::size_t at = big_endian ? sizeof(Bits) - 1 - i : i;
    bits = static_cast<Bits>(bits | static_cast<Bits>(item[at]) << (8 * i));
  }
  return bits;
}

// IEEE half precision; every value of it is a float.
float half_to_float(std::uint16_t half) {
  const int exponent = half >> 10 & 31;
  const float fraction = static_cast<float>(half & 1023);
  float value = 0;
  if (exponent == 0)
    value = std::ldexp(fraction, -24);
  else if (exponent == 31)
    value = fraction > 0 ? NAN : INFINITY;
  else
    value = std::ldexp(1024.0F + fraction, exponent - 25);
  return (half & 0x8000) != 0 ? -value : value;
}

template <class Bits, class Convert>
void convert(
    const NpyHeader& header,
    std::span<const std::uint8_t> items,
    float* out,
    const Convert& to_float) {
  const std::size_t count = items.size() / sizeof(Bits);
  for (std::size_t i = 0; i < count; ++i)
    out[i] = to_float(
        bits_at<Bits>(items.data() + i * sizeof(Bits), header.big_endian));
}

template <class Bits, class Signed>
void convert_integers(
    const NpyHeader& header,
    std::span<const std::uint8_t> items,
    float* out) {
  if (header.kind == NpyKind::signed_integer)
    convert<Bits>(header, items, out, [](Bits bits) {
      return static_cast<float>(static_cast<Signed>(bits));
    });
  else
    convert<Bits>(
        header, items, out, [](Bits bits) { return static_cast<float>(bits); });
}

} // namespace

std::int64_t NpyHeader::items() const {
  return static_cast<std::int64_t>(
      data_bytes / static_cast<std::uint64_t>(item_bytes));
}

std::int64_t NpyHeader::row_items() const {
  std::int64_t items = 1;
  for (std::size_t i = 1; i < shape.size(); ++i)
    items *= shape[i];
  return items;
}

NpyArray parse_npy(
    std::span<const std::uint8_t> file,
    std::shared_ptr<const void> owner,
    const std::string& name) {
  NpyArray array;
  array.name = name;
  array.header = parse_npy_header(file, name);
  array.data = file.subspan(array.header.header_bytes);
  if (array.data.size() != array.header.data_bytes)
    throw Error(
        cat("[data] cannot read ",
            name,
            " as an array: its header announces ",
            count_text(static_cast<std::int64_t>(array.header.data_bytes)),
            " bytes of numbers, and there are ",
            count_text(static_cast<std::int64_t>(array.data.size())),
            "."),
        "It is probably cut short; save or copy it again.");
  array.owner = std::move(owner);
  return array;
}

NpyArray map_npy(const std::filesystem::path& path) {
  auto file = std::make_shared<MappedFile>(path);
  file->expect_random_access();
  NpyArray array = parse_npy(file->bytes(), file, path.string());
  array.path = path.string();
  array.is_file = true;
  return array;
}

std::span<const std::uint8_t> npy_row(
    const NpyArray& array,
    std::int64_t index,
    std::vector<std::uint8_t>& scratch) {
  const NpyHeader& header = array.header;
  check(
      !header.shape.empty() && 0 <= index && index < header.shape[0],
      "a row is inside its array");
  const auto item = static_cast<std::size_t>(header.item_bytes);
  const auto items = static_cast<std::size_t>(header.row_items());
  if (!header.fortran_order || header.shape.size() == 1)
    return array.data.subspan(
        static_cast<std::size_t>(index) * items * item, items * item);
  scratch.resize(items * item);
  // The last index runs fastest in what comes out; in the file, its stride is
  // the product of all sizes before it.
  const std::size_t last = header.shape.size() - 1;
  std::vector<std::int64_t> at(header.shape.size(), 0);
  std::vector<std::int64_t> stride(header.shape.size(), 1);
  for (std::size_t d = 1; d <= last; ++d)
    stride[d] = stride[d - 1] * header.shape[d - 1];
  std::int64_t source = index;
  for (std::size_t i = 0; i < items; ++i) {
    std::memcpy(
        scratch.data() + i * item,
        array.data.data() + static_cast<std::size_t>(source) * item,
        item);
    for (std::size_t d = last; d > 0; --d) {
      source += stride[d];
      if (++at[d] < header.shape[d]) break;
      source -= stride[d] * header.shape[d];
      at[d] = 0;
    }
  }
  return scratch;
}

void npy_to_floats(
    const NpyHeader& header,
    std::span<const std::uint8_t> items,
    float* out) {
  if (header.kind == NpyKind::boolean) {
    for (std::size_t i = 0; i < items.size(); ++i)
      out[i] = items[i] != 0 ? 1.0F : 0.0F;
  } else if (header.kind == NpyKind::floating && header.item_bytes == 2) {
    convert<std::uint16_t>(header, items, out, half_to_float);
  } else if (header.kind == NpyKind::floating && header.item_bytes == 4) {
    convert<std::uint32_t>(header, items, out, [](std::uint32_t bits) {
      return std::bit_cast<float>(bits);
    });
  } else if (header.kind == NpyKind::floating) {
    convert<std::uint64_t>(header, items, out, [](std::uint64_t bits) {
      return static_cast<float>(std::bit_cast<double>(bits));
    });
  } else if (header.item_bytes == 1) {
    convert_integers<std::uint8_t, std::int8_t>(header, items, out);
  } else if (header.item_bytes == 2) {
    convert_integers<std::uint16_t, std::int16_t>(header, items, out);
  } else if (header.item_bytes == 4) {
    convert_integers<std::uint32_t, std::int32_t>(header, items, out);
  } else {
    convert_integers<std::uint64_t, std::int64_t>(header, items, out);
  }
}

std::int64_t npy_integer(const NpyHeader& header, const std::uint8_t* item) {
  const bool is_signed = header.kind == NpyKind::signed_integer;
  switch (header.item_bytes) {
    case 1:
      if (header.kind == NpyKind::boolean) return *item != 0 ? 1 : 0;
      return is_signed ? static_cast<std::int8_t>(*item) : *item;
    case 2: {
      const auto bits = bits_at<std::uint16_t>(item, header.big_endian);
      return is_signed ? static_cast<std::int16_t>(bits) : bits;
    }
    case 4: {
      const auto bits = bits_at<std::uint32_t>(item, header.big_endian);
      return is_signed ? static_cast<std::int32_t>(bits)
                       : static_cast<std::int64_t>(bits);
    }
    default:
      return static_cast<std::int64_t>(
          bits_at<std::uint64_t>(item, header.big_endian));
  }
}

} // namespace temper::data
