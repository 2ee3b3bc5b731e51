#include "temper/graph/pt2/pt2_trace.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "temper/base/text.h"

namespace temper::graph::pt2 {
namespace {

// "key,path,type" cut at its commas; a type may have some within brackets.
std::vector<std::string_view> parts_of(std::string_view entry) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t start = 0;
  for (std::size_t i = 0; i < entry.size(); ++i) {
    const char c = entry[i];
    if (c == '[' || c == '(') ++depth;
    if (c == ']' || c == ')') --depth;
    if (c != ',' || depth != 0) continue;
    parts.push_back(entry.substr(start, i - start));
    start = i + 1;
  }
  parts.push_back(entry.substr(start));
  return parts;
}

bool is_printable(std::string_view text) {
  return std::ranges::none_of(text, [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  });
}

// Whether a package's files are below this path, installed or by name alone.
bool below(std::string_view path, std::string_view package) {
  return path.starts_with(cat(package, "/")) ||
      contains(path, cat("-packages/", package, "/"));
}

struct Frame {
  std::string_view path;
  std::int64_t line = 0;
};

// `File "/home/me/net.py", line 27, in forward`
std::optional<Frame> frame_of(std::string_view line) {
  constexpr std::string_view kFile = "File \"";
  constexpr std::string_view kLine = "\", line ";
  line = trim(line);
  if (!line.starts_with(kFile)) return std::nullopt;
  line.remove_prefix(kFile.size());
  const auto end = line.find(kLine);
  if (end == std::string_view::npos) return std::nullopt;
  auto number = line.substr(end + kLine.size());
  number = number.substr(0, number.find(','));
  const auto value = parse_int(number);
  if (!value || *value < 0 || !is_printable(line)) return std::nullopt;
  return Frame{line.substr(0, end), *value};
}

std::string_view file_name(std::string_view path) {
  const auto slash = path.find_last_of("/\\");
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

} // namespace

std::string module_of(std::string_view nn_module_stack) {
  const auto last = nn_module_stack.rfind(';');
  const auto entry = last == std::string_view::npos
      ? nn_module_stack
      : nn_module_stack.substr(last + 1);
  const auto parts = parts_of(entry);
  // The exporter's own nodes belong to a module that does not exist.
  if (parts.size() != 3 || parts[1].starts_with("_empty_nn_module_stack") ||
      !is_printable(parts[1]))
    return "";
  return std::string(parts[1]);
}

std::string source_of(std::string_view stack_trace) {
  std::optional<Frame> own;
  std::optional<Frame> torchvision;
  while (!stack_trace.empty()) {
    const auto end = stack_trace.find('\n');
    const auto frame = frame_of(stack_trace.substr(0, end));
    stack_trace.remove_prefix(
        end == std::string_view::npos ? stack_trace.size() : end + 1);
    // <eval_with_key> and the like: code that the exporter made.
    if (!frame || below(frame->path, "torch") || frame->path.starts_with("<"))
      continue;
    (below(frame->path, "torchvision") ? torchvision : own) = frame;
  }
  const auto& chosen = own ? own : torchvision;
  return chosen ? cat(file_name(chosen->path), ":", chosen->line) : "";
}

std::string module_stack(const std::string& module) {
  std::string stack = "L__self__,,torch.nn.Module";
  for (std::size_t at = 0; !module.empty() && at != std::string::npos;) {
    at = module.find('.', at + 1);
    const std::string path = module.substr(0, at);
    stack += cat(";L__self__.", path, ",", path, ",torch.nn.Module");
  }
  return stack;
}

std::string stack_trace(const std::string& source) {
  const auto colon = source.rfind(':');
  if (colon == std::string::npos) return "";
  return cat(
      "File \"",
      source.substr(0, colon),
      "\", line ",
      source.substr(colon + 1),
      ", in forward");
}

} // namespace temper::graph::pt2
