#include "temper/weights/safetensors_header.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "temper/base/error.h"
#include "temper/base/text.h"

namespace temper::weights {
namespace {

using nlohmann::json;

constexpr std::size_t kMostDimensions = 64; // PyTorch's own limit

[[noreturn]] void refuse_header(
    const std::string& file,
    const std::string& why) {
  throw Error(
      cat("[model] cannot read ", file, ": ", why, "."),
      "Download or save the file again.");
}

// nlohmann calls this for every piece of JSON. Only the one form that the
// format allows gets through: an object of tensors and of text.
class HeaderHandler {
 public:
  HeaderHandler(const std::string& file, SafetensorsHeader& header)
      : file_(file), header_(header) {}

  bool null() {
    unexpected("null");
  }
  bool boolean(bool) {
    unexpected("true or false");
  }
  bool number_integer(json::number_integer_t) {
    unexpected("a negative number");
  }
  bool number_float(json::number_float_t, const std::string&) {
    unexpected("a number that is not whole or too large");
  }
  bool binary(json::binary_t&) {
    unexpected("binary");
  }

  bool number_unsigned(json::number_unsigned_t number) {
    if (place_ == Position::kShape) {
      if (number > std::numeric_limits<std::int64_t>::max())
        refuse_header(file_, cat(tensor(), " has a size of ", number));
      if (entry_.sizes.size() == kMostDimensions)
        refuse_header(
            file_,
            cat(tensor(), " has more than ", kMostDimensions, " dimensions"));
      entry_.sizes.push_back(static_cast<std::int64_t>(number));
    } else if (place_ == Position::kOffsets) {
      if (offsets_ == 2)
        refuse_header(file_, cat(tensor(), " has more than two offsets"));
      (offsets_++ == 0 ? entry_.begin : entry_.end) = number;
    } else {
      unexpected("a number");
    }
    return true;
  }

  bool string(std::string& text) {
    if (place_ == Position::kMetadata) {
      header_.metadata[key_] = text;
    } else if (place_ == Position::kTensor && key_ == "dtype") {
      const auto type = graph::dtype_of_safetensors(text);
      if (!type)
        throw Error(
            cat("[model] cannot read ",
                file_,
                ": ",
                tensor(),
                " is of type ",
                shown_name(text),
                ", which temper does not read."),
            "Convert it to F32, F16 or BF16 where the file was made.");
      entry_.dtype = *type;
    } else {
      unexpected("text");
    }
    return true;
  }

  bool start_object(std::size_t) {
    if (place_ == Position::kStart) {
      place_ = Position::kTop;
    } else if (place_ == Position::kTop && key_ == "__metadata__") {
      place_ = Position::kMetadata;
    } else if (place_ == Position::kTop) {
      place_ = Position::kTensor;
      entry_ = {};
      entry_.name = key_;
      offsets_ = 0;
      seen_.clear();
    } else {
      unexpected("an object");
    }
    return true;
  }

  bool key(std::string& key) {
    bool fresh = true;
    if (place_ == Position::kTop)
      fresh = names_.insert(key).second;
    else if (place_ == Position::kMetadata)
      fresh = header_.metadata.count(key) == 0;
    else
      fresh = seen_.insert(key).second;
    if (!fresh)
      refuse_header(file_, cat("its header has ", shown_name(key), " twice"));
    if (place_ == Position::kTensor && key != "dtype" && key != "shape" &&
        key != "data_offsets")
      refuse_header(
          file_, cat(tensor(), " has an unknown field ", shown_name(key)));
    key_ = key;
    return true;
  }

  bool end_object() {
    if (place_ == Position::kTensor) {
      if (seen_.size() != 3)
        refuse_header(
            file_, cat(tensor(), " lacks its dtype, shape or data_offsets"));
      header_.entries.push_back(std::move(entry_));
    }
    place_ = place_ == Position::kTop ? Position::kEnd : Position::kTop;
    return true;
  }

  bool start_array(std::size_t) {
    if (place_ != Position::kTensor || key_ == "dtype") unexpected("a list");
    place_ = key_ == "shape" ? Position::kShape : Position::kOffsets;
    return true;
  }

  bool end_array() {
    if (place_ == Position::kOffsets && offsets_ != 2)
      refuse_header(file_, cat(tensor(), " has no two offsets"));
    place_ = Position::kTensor;
    return true;
  }

  bool parse_error(
      std::size_t position,
      const std::string&,
      const json::exception&) {
    refuse_header(file_, cat("its header is not JSON at byte ", position));
  }

 private:
  enum class Position {
    kStart,
    kTop,
    kMetadata,
    kTensor,
    kShape,
    kOffsets,
    kEnd
  };

  std::string tensor() const {
    return cat("tensor ", shown_name(entry_.name));
  }
  [[noreturn]] void unexpected(const char* what) const {
    std::string where = "its header";
    if (place_ == Position::kTop || place_ == Position::kMetadata)
      where = shown_name(key_);
    else if (place_ != Position::kStart)
      where = cat(key_, " of ", tensor());
    refuse_header(file_, cat(where, " is ", what));
  }

  const std::string& file_;
  SafetensorsHeader& header_;
  Position place_ = Position::kStart;
  std::string key_;
  SafetensorsEntry entry_;
  int offsets_ = 0;
  std::set<std::string> seen_; // fields of the tensor
  std::set<std::string> names_;
};

// The bytes of a tensor; no value when the product leaves 64 bits.
std::optional<std::uint64_t> bytes_needed(const SafetensorsEntry& entry) {
  std::uint64_t bytes = graph::bytes_of(entry.dtype);
  for (const std::int64_t size : entry.sizes)
    if (size == 0) return 0;
  for (const std::int64_t size : entry.sizes)
    if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(size), &bytes))
      return std::nullopt;
  return bytes;
}

void check_places(
    const SafetensorsHeader& header,
    std::uint64_t data_bytes,
    const std::string& file) {
  std::uint64_t covered = 0;
  for (const auto& entry : header.entries) {
    const std::string tensor = cat("tensor ", shown_name(entry.name));
    if (entry.begin > entry.end)
      refuse_header(file, cat(tensor, " ends before it begins"));
    if (entry.end > data_bytes)
      refuse_header(
          file,
          cat(tensor,
              " ends at byte ",
              entry.end,
              " of ",
              data_bytes,
              ": the file is cut short or its header is wrong"));
    const auto needed = bytes_needed(entry);
    if (!needed || *needed != entry.end - entry.begin)
      refuse_header(
          file,
          cat(tensor,
              " of ",
              sizes_text(entry.sizes),
              " ",
              graph::name_of(entry.dtype),
              " does not fill its ",
              entry.end - entry.begin,
              " bytes"));
    if (entry.begin < covered)
      refuse_header(file, cat(tensor, " overlaps another"));
    if (entry.begin > covered)
      refuse_header(
          file,
          cat(entry.begin - covered,
              " bytes before ",
              tensor,
              " are nobody's"));
    covered = entry.end;
  }
  if (covered != data_bytes)
    refuse_header(
        file, cat("the last ", data_bytes - covered, " bytes are nobody's"));
}

} // namespace

SafetensorsHeader parse_safetensors_header(
    std::string_view text,
    std::uint64_t data_bytes,
    const std::string& file) {
  // A zero byte would end the JSON for nlohmann, and hide what follows.
  if (text.empty() || text.front() != '{' ||
      text.find('\0') != std::string_view::npos)
    refuse_header(file, "its header is not a JSON object");
  SafetensorsHeader header;
  HeaderHandler handler(file, header);
  json::sax_parse(text.begin(), text.end(), &handler);
  // Empty tensors lie on the border of others and come first there.
  std::sort(
      header.entries.begin(),
      header.entries.end(),
      [](const SafetensorsEntry& a, const SafetensorsEntry& b) {
        if (a.begin != b.begin) return a.begin < b.begin;
        if (a.end != b.end) return a.end < b.end;
        return a.name < b.name;
      });
  check_places(header, data_bytes, file);
  return header;
}

std::string safetensors_header_text(const SafetensorsHeader& header) {
  const auto quoted = [](const std::string& text) { return json(text).dump(); };
  std::vector<std::string> fields;
  if (!header.metadata.empty())
    fields.push_back(cat("\"__metadata__\":", json(header.metadata).dump()));
  for (const auto& entry : header.entries)
    fields.push_back(
        cat(quoted(entry.name),
            R"(:{"dtype":")",
            graph::safetensors_name(entry.dtype),
            R"(","shape":)",
            json(entry.sizes).dump(),
            R"(,"data_offsets":[)",
            entry.begin,
            ",",
            entry.end,
            "]}"));
  std::string text = cat("{", join(fields, ","), "}");
  text.append((8 - text.size() % 8) % 8, ' ');
  return text;
}

std::string shown_name(std::string_view name) {
  constexpr std::size_t kLongest = 80;
  std::string shown(name.substr(0, kLongest));
  for (char& c : shown)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  if (name.size() > kLongest) shown += "...";
  return shown.empty() ? "\"\"" : shown;
}

std::string sizes_text(const std::vector<std::int64_t>& sizes) {
  std::vector<std::string> parts;
  for (const std::int64_t size : sizes)
    parts.push_back(cat(size));
  return cat("[", join(parts, ", "), "]");
}

} // namespace temper::weights
