// The Python literal at the front of a .npy file.
#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "temper/base/byte_order.h"
#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/data/format/npy.h"

namespace temper::data {
namespace {

constexpr std::size_t kLongestNpyHeader = 64 << 10;
constexpr std::size_t kMostNpyDimensions = 32; // as NumPy had it
constexpr std::int64_t kMostItems = std::int64_t{1} << 60;

// The Python literal, character by character. Every step consumes at least
// one, so that it ends.
class Literal {
 public:
  Literal(std::string_view text, const std::string& name)
      : text_(text), name_(name) {}

  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(
        cat("[data] cannot read ", name_, " as an array: ", why, "."),
        "Save it again with numpy.save, as plain numbers.");
  }
  bool take(char wanted) {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }
  void expect(char wanted) {
    if (!take(wanted))
      refuse(cat("its header lacks '", wanted, "' at character ", at_));
  }
  std::string quoted() {
    skip_blanks();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"') refuse("its header lacks a string");
    const auto end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) refuse("its header lacks a quote");
    const std::string_view inside = text_.substr(at_ + 1, end - at_ - 1);
    if (inside.find('\\') != std::string_view::npos)
      refuse("its header escapes a character");
    at_ = end + 1;
    return std::string(inside);
  }
  bool truth() {
    skip_blanks();
    for (const bool value : {true, false}) {
      const std::string_view word = value ? "True" : "False";
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      return value;
    }
    refuse("its order is neither True nor False");
  }
  std::int64_t size() {
    skip_blanks();
    const std::size_t begin = at_;
    std::int64_t value = 0;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') {
      if (value > kMostItems / 10) refuse("its shape is impossibly large");
      value = value * 10 + (text_[at_++] - '0');
    }
    if (at_ == begin) refuse("a size in its shape is not a number");
    if (at_ < text_.size() && text_[at_] == 'L') ++at_; // Python 2's long
    return value;
  }
  std::vector<std::int64_t> shape() {
    std::vector<std::int64_t> sizes;
    expect('(');
    while (!take(')')) {
      sizes.push_back(size());
      if (sizes.size() > kMostNpyDimensions)
        refuse("it has too many dimensions");
      if (take(',')) continue;
      if (sizes.size() == 1) refuse("its shape is not a tuple");
      expect(')');
      break;
    }
    return sizes;
  }
  bool list_follows() {
    skip_blanks();
    return at_ < text_.size() && text_[at_] == '[';
  }
  void expect_end() {
    skip_blanks();
    if (at_ != text_.size()) refuse("its header goes on after the dict");
  }

 private:
  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n'))
      ++at_;
  }

  std::string_view text_;
  const std::string& name_;
  std::size_t at_ = 0;
};

// Why a type that NumPy knows cannot be a number here.
const char* reason_against(char kind) {
  switch (kind) {
    case 'O':
      return "it holds Python objects, which are pickled, and a pickle may "
             "run any program";
    case 'c':
      return "complex numbers are not supported";
    case 'S':
    case 'a':
    case 'U':
      return "it holds text, not numbers";
    case 'M':
    case 'm':
      return "it holds dates, not numbers";
    case 'V':
      return "it holds raw records, not numbers";
    default:
      return "its type is unknown";
  }
}

void set_type(NpyHeader& header, const std::string& type, const Literal& in) {
  const char order = type.empty() ? '?' : type[0];
  const char kind = type.size() < 2 ? '?' : type[1];
  if (kind == 'u') {
    header.kind = NpyKind::unsigned_integer;
  } else if (kind == 'i') {
    header.kind = NpyKind::signed_integer;
  } else if (kind == 'f') {
    header.kind = NpyKind::floating;
  } else if (kind == 'b') {
    header.kind = NpyKind::boolean;
  } else {
    in.refuse(cat(reason_against(kind), " ('", type, "')"));
  }
  header.item_bytes = type.size() == 3 ? type[2] - '0' : 0;
  const int bytes = header.item_bytes;
  const bool known = kind == 'b' ? bytes == 1
      : kind == 'f'              ? bytes == 2 || bytes == 4 || bytes == 8
                    : bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
  if (!known || (order != '<' && order != '>' && order != '|'))
    in.refuse(cat("its type '", type, "' is not supported"));
  if (order == '|' && bytes > 1)
    in.refuse(cat("its type '", type, "' has no byte order"));
  header.big_endian = order == '>';
}

void set_sizes(NpyHeader& header, const Literal& in) {
  // Zero sizes do not hide what is wrong with the others.
  std::int64_t bytes = header.item_bytes;
  bool empty = false;
  for (const std::int64_t size : header.shape) {
    empty = empty || size == 0;
    if (bytes > kMostItems / std::max<std::int64_t>(size, 1))
      in.refuse("its shape is impossibly large");
    bytes *= std::max<std::int64_t>(size, 1);
  }
  header.data_bytes = empty ? 0 : static_cast<std::uint64_t>(bytes);
}

} // namespace

NpyHeader parse_npy_header(
    std::span<const std::uint8_t> file,
    const std::string& name) {
  constexpr std::array<std::uint8_t, 6> kMagic{0x93, 'N', 'U', 'M', 'P', 'Y'};
  const Literal nothing("", name);
  if (file.size() < 10 ||
      std::memcmp(file.data(), kMagic.data(), kMagic.size()) != 0)
    nothing.refuse("it does not begin with NumPy's mark");
  const int version = file[6];
  if (version < 1 || version > 3)
    nothing.refuse(cat("its version ", version, " is unknown"));
  const std::size_t front = version == 1 ? 10 : 12;
  if (file.size() < front) nothing.refuse("its header is cut short");
  const std::size_t length = version == 1
      ? read_little_endian<std::uint16_t>(file.data() + 8)
      : read_little_endian<std::uint32_t>(file.data() + 8);
  if (length > kLongestNpyHeader) nothing.refuse("its header is too long");
  if (file.size() - front < length) nothing.refuse("its header is cut short");

  Literal in(
      {reinterpret_cast<const char*>(file.data()) + front, length}, name);
  std::optional<std::string> type;
  std::optional<bool> order;
  std::optional<std::vector<std::int64_t>> shape;
  in.expect('{');
  while (!in.take('}')) {
    const std::string key = in.quoted();
    in.expect(':');
    if (key == "descr" && !type) {
      if (in.list_follows())
        in.refuse("it holds records with fields, not one array of numbers");
      type = in.quoted();
    } else if (key == "fortran_order" && !order) {
      order = in.truth();
    } else if (key == "shape" && !shape) {
      shape = in.shape();
    } else {
      in.refuse(cat("its header has the key '", key, "' once too often"));
    }
    if (in.take(',')) continue;
    in.expect('}');
    break;
  }
  in.expect_end();
  if (!type || !order || !shape)
    in.refuse("its header lacks descr, fortran_order or shape");
  NpyHeader header;
  header.fortran_order = *order;
  header.shape = std::move(*shape);
  header.header_bytes = front + length;
  set_type(header, *type, in);
  set_sizes(header, in);
  return header;
}

} // namespace temper::data
