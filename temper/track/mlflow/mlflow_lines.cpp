#include "temper/track/mlflow/mlflow_lines.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "temper/base/process/spawn.h"
#include "temper/base/text.h"
#include "temper/track/tracker.h"

namespace temper::track {
std::string yaml_value(const std::string& yaml, const std::string& key) {
  for (const std::string& line : split(yaml, '\n')) {
    if (!line.starts_with(key + ":")) continue;
    const std::string value(trim(line.substr(key.size() + 1)));
    if (value.size() < 2 || value.front() != '\'') return value;
    std::string out;
    for (std::size_t i = 1; i + 1 < value.size(); ++i) {
      out += value[i];
      if (value[i] == '\'') ++i;
    }
    return out;
  }
  return "";
}

void append_lines(const std::filesystem::path& file, const std::string& lines) {
  const Descriptor out(
      ::open(file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644));
  if (!out.open()) refuse_to_write(file, std::strerror(errno));
  const off_t before = ::lseek(out.get(), 0, SEEK_END);
  const ssize_t put = ::write(out.get(), lines.data(), lines.size());
  if (put == static_cast<ssize_t>(lines.size())) return;
  const int code = put < 0 ? errno : ENOSPC;
  if (before == 0)
    ::unlink(file.c_str());
  else if (::ftruncate(out.get(), before) != 0)
    refuse_to_write(file, std::strerror(errno));
  refuse_to_write(file, std::strerror(code));
}

std::set<std::string> last_lines(const std::filesystem::path& file) {
  constexpr std::streamoff kMost = 1 << 18;
  std::set<std::string> lines;
  std::ifstream in(file, std::ios::binary | std::ios::ate);
  if (!in) return lines;
  const std::streamoff size = in.tellg();
  in.seekg(std::max<std::streamoff>(size - kMost, 0));
  std::string line;
  if (size > kMost) std::getline(in, line);
  while (std::getline(in, line))
    lines.insert(line);
  return lines;
}

std::string python_number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  std::array<char, 40> text{};
  for (int digits = 1; digits <= 17; ++digits) {
    std::snprintf(text.data(), text.size(), "%.*g", digits, value);
    if (std::strtod(text.data(), nullptr) == value) break;
  }
  std::string out = text.data();
  if (out.find_first_of(".e") == std::string::npos) out += ".0";
  return out;
}

} // namespace temper::track
