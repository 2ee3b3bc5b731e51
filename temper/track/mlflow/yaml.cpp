#include "temper/track/mlflow/yaml.h"

#include <algorithm>

namespace temper::track {
namespace {

bool needs_escapes(const std::string& text) {
  return std::ranges::any_of(text, [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
  });
}

} // namespace

std::string yaml_text(const std::string& text) {
  if (!needs_escapes(text)) {
    std::string out = "'";
    for (const char c : text) {
      out += c;
      if (c == '\'') out += c;
    }
    return out + "'";
  }
  constexpr const char* kHex = "0123456789ABCDEF";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (byte < 0x20 || byte == 0x7F) {
      out += "\\x";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else {
      out += c;
    }
  }
  return out + "\"";
}

} // namespace temper::track
