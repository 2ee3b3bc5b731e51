#include "temper/machine/linux/linux_text.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "temper/base/file/file.h"
#include "temper/base/text.h"

namespace temper::machine {

std::string_view next_line(std::string_view& rest) {
  const auto end = rest.find('\n');
  const auto line = rest.substr(0, end);
  rest =
      end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
  return line;
}

std::vector<std::string_view> words(std::string_view line) {
  constexpr std::string_view kBlank = " \t\r\n";
  std::vector<std::string_view> found;
  auto begin = line.find_first_not_of(kBlank);
  while (begin != std::string_view::npos) {
    const auto end = line.find_first_of(kBlank, begin);
    found.push_back(line.substr(begin, end - begin));
    begin = line.find_first_not_of(kBlank, end);
  }
  return found;
}

std::optional<std::string_view> field(
    std::string_view text,
    std::string_view key) {
  while (!text.empty()) {
    const auto line = next_line(text);
    if (!line.starts_with(key)) continue;
    const auto after = trim(line.substr(key.size()));
    if (after.empty() || after.front() != ':') continue;
    return trim(after.substr(1));
  }
  return std::nullopt;
}

std::optional<std::uint64_t> kib_field(
    std::string_view text,
    std::string_view key) {
  const auto value = field(text, key);
  if (!value) return std::nullopt;
  const auto parts = words(*value);
  // A file cut off in the middle of a number must not be believed.
  if (parts.size() != 2 || parts[1] != "kB") return std::nullopt;
  const auto kib = parse_u64(parts[0]);
  if (!kib || *kib > std::numeric_limits<std::uint64_t>::max() / 1024)
    return std::nullopt;
  return *kib * 1024;
}

std::optional<std::uint64_t> parse_u64(std::string_view text) {
  std::uint64_t value = 0;
  const auto* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

std::vector<int> parse_cpu_list(std::string_view text) {
  constexpr std::uint64_t kMostCpus = 8192; // the kernel's own NR_CPUS limit
  std::vector<int> cpus;
  for (const std::string& part : split(trim(text), ',')) {
    const auto dash = part.find('-');
    const auto first = parse_u64(std::string_view(part).substr(0, dash));
    const auto last = dash == std::string::npos
        ? first
        : parse_u64(std::string_view(part).substr(dash + 1));
    if (!first || !last || *last >= kMostCpus) continue;
    for (auto cpu = *first; cpu <= *last; ++cpu)
      cpus.push_back(static_cast<int>(cpu));
  }
  std::sort(cpus.begin(), cpus.end());
  cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
  return cpus;
}

std::string clean(std::string_view text) {
  constexpr std::size_t kMostBytes = 200;
  std::string kept;
  for (const char c : text) {
    if (kept.size() == kMostBytes) break;
    if (static_cast<unsigned char>(c) >= ' ' && c != '\x7f') kept += c;
  }
  return std::string(trim(kept));
}

std::string read_line(const std::filesystem::path& path) {
  const auto text = read_small_file(path);
  if (!text) return {};
  std::string_view rest = *text;
  return clean(next_line(rest));
}

std::optional<std::uint64_t> read_number(const std::filesystem::path& path) {
  const auto text = read_small_file(path);
  return text ? parse_u64(trim(*text)) : std::nullopt;
}

} // namespace temper::machine
