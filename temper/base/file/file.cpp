#include "temper/base/file/file.h"

#include <array>
#include <fstream>

namespace temper {

std::optional<std::string> read_small_file(
    const std::filesystem::path& path,
    std::size_t limit_bytes) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return std::nullopt;
  std::string text;
  std::array<char, 4096> chunk{};
  while (in.read(chunk.data(), chunk.size()) || in.gcount() > 0) {
    text.append(chunk.data(), static_cast<std::size_t>(in.gcount()));
    if (text.size() > limit_bytes) return std::nullopt;
  }
  if (in.bad()) return std::nullopt;
  return text;
}

} // namespace temper
