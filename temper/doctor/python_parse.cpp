#include "temper/doctor/python_parse.h"

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>

#include "temper/base/text.h"
#include "temper/doctor/python_script.h"

namespace temper::doctor {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostPackages = 100;
constexpr std::size_t kMostArchitectures = 16;

// The fields of one JSON object. A missing field, or a null, leaves what it
// would fill as it is; the first wrong one is noted in `problem`.
class Fields {
 public:
  Fields(const Json& object, std::string path, std::string& problem)
      : object_(object), path_(std::move(path)), problem_(problem) {
    if (!object.is_object()) complain("", "an object");
  }

  void text(const char* key, std::string& into) {
    const Json* value = find(key);
    if (value == nullptr) return;
    if (!value->is_string()) return complain(key, "text");
    into = printable(value->get_ref<const std::string&>());
  }

  void texts(const char* key, std::vector<std::string>& into) {
    const Json* value = find(key);
    if (value == nullptr) return;
    if (!value->is_array()) return complain(key, "a list of texts");
    for (const auto& item : *value) {
      if (!item.is_string()) return complain(key, "a list of texts");
      if (into.size() >= kMostArchitectures) return;
      into.push_back(printable(item.get_ref<const std::string&>()));
    }
  }

  void flag(const char* key, bool& into) {
    const Json* value = find(key);
    if (value == nullptr) return;
    if (!value->is_boolean()) return complain(key, "true or false");
    into = value->get<bool>();
  }

  void count(const char* key, int& into) {
    const Json* value = find(key);
    if (value == nullptr) return;
    const bool fits = value->is_number_unsigned() &&
        value->get<std::uint64_t>() <=
            static_cast<std::uint64_t>(std::numeric_limits<int>::max());
    if (!fits) return complain(key, "a count");
    into = static_cast<int>(value->get<std::uint64_t>());
  }

  // The value of a key; null when it is missing.
  const Json* find(const char* key) const {
    if (!object_.is_object()) return nullptr;
    const auto at = object_.find(key);
    return at == object_.end() || at->is_null() ? nullptr : &*at;
  }

  void complain(const std::string& key, const char* wanted) {
    if (problem_.empty())
      problem_ = cat("the report's ", path_, key, " is not ", wanted);
  }

 private:
  const Json& object_;
  std::string path_;
  std::string& problem_;
};

// platform.machine() and the file headers name the same thing differently.
void normalise(std::string& architecture) {
  if (architecture == "aarch64") architecture = "arm64";
  if (architecture == "AMD64" || architecture == "amd64")
    architecture = "x86_64";
}

void read_architectures(Fields& fields, std::vector<std::string>& into) {
  fields.texts("architectures", into);
  for (auto& architecture : into)
    normalise(architecture);
}

void parse_package_list(
    Fields& fields,
    std::vector<PythonPackage>& packages,
    std::string& problem) {
  const Json* list = fields.find("packages");
  if (list == nullptr) return;
  if (!list->is_array()) return fields.complain("packages", "a list");
  for (const auto& item : *list) {
    if (packages.size() >= kMostPackages) return;
    PythonPackage package;
    Fields entry(item, "package ", problem);
    entry.text("name", package.name);
    entry.text("version", package.version);
    entry.text("location", package.location);
    entry.text("binary", package.binary);
    read_architectures(entry, package.architectures);
    if (!package.name.empty()) packages.push_back(std::move(package));
  }
}

void read_device(
    Fields& fields,
    const char* key,
    PythonDevice& device,
    std::string& problem) {
  const Json* object = fields.find(key);
  if (object == nullptr) return;
  Fields entry(*object, cat(key, " "), problem);
  entry.flag("built", device.built);
  entry.flag("available", device.available);
  entry.flag("usable", device.usable);
  entry.flag("float64", device.float64);
  entry.text("error", device.error);
}

// The bytes of the UTF-8 character the text begins with; 0 when they are none,
// or one that would steer a terminal.
std::size_t printable_character(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const auto first = byte(0);
  if (first < 0x80) return first < 0x20 || first == 0x7F ? 0 : 1;
  std::size_t size = 0;
  if (first >= 0xC2 && first < 0xE0) size = 2;
  if (first >= 0xE0 && first < 0xF0) size = 3;
  if (first >= 0xF0 && first < 0xF5) size = 4;
  for (std::size_t i = 1; i < size; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  const bool control = first == 0xC2 && byte(1) < 0xA0;
  const bool overlong =
      (first == 0xE0 && byte(1) < 0xA0) || (first == 0xF0 && byte(1) < 0x90);
  const bool outside =
      (first == 0xED && byte(1) >= 0xA0) || (first == 0xF4 && byte(1) >= 0x90);
  return control || overlong || outside ? 0 : size;
}

Json parse(std::string_view text, std::string& problem) {
  auto json = Json::parse(text.begin(), text.end(), nullptr, false);
  if (json.is_discarded()) problem = "the report is not valid JSON";
  return json;
}

} // namespace

std::string printable(std::string_view text, std::size_t limit) {
  std::string line;
  while (!text.empty()) {
    const auto size = printable_character(text);
    const auto taken = size == 0 ? std::string_view(" ") : text.substr(0, size);
    if (line.size() + taken.size() > limit) break;
    line += taken;
    text.remove_prefix(size == 0 ? 1 : size);
  }
  return line;
}

std::optional<std::string_view> last_marked_report(std::string_view output) {
  const std::string begin = cat("\n", kReportBegin, "\n");
  const std::string end = cat("\n", kReportEnd, "\n");
  const auto last_end = output.rfind(end);
  if (last_end == std::string_view::npos) return std::nullopt;
  const auto last_begin = output.rfind(begin, last_end);
  if (last_begin == std::string_view::npos) return std::nullopt;
  const auto from = last_begin + begin.size();
  if (from > last_end) return std::nullopt;
  return output.substr(from, last_end - from);
}

std::string parse_packages(std::string_view text, PythonReport& report) {
  std::string problem;
  const Json json = parse(text, problem);
  if (!problem.empty()) return problem;
  Fields fields(json, "", problem);
  fields.text("interpreter", report.interpreter);
  fields.text("version", report.version);
  fields.text("implementation", report.implementation);
  fields.text("architecture", report.architecture);
  fields.flag("translated", report.translated);
  fields.count("bits", report.bits);
  fields.text("prefix", report.prefix);
  fields.text("virtual_environment", report.virtual_environment);
  fields.text("conda", report.conda);
  read_architectures(fields, report.architectures);
  parse_package_list(fields, report.packages, problem);
  normalise(report.architecture);
  if (problem.empty() && !parse_version(report.version))
    problem = "the report names no Python version";
  return problem;
}

std::string parse_torch(std::string_view text, PythonTorch& torch) {
  std::string problem;
  const Json json = parse(text, problem);
  if (!problem.empty()) return problem;
  Fields fields(json, "", problem);
  fields.text("step", torch.step);
  fields.flag("imported", torch.imported);
  fields.text("error", torch.error);
  fields.text("version", torch.version);
  fields.count("threads", torch.threads);
  read_device(fields, "mps", torch.mps, problem);
  read_device(fields, "cuda", torch.cuda, problem);
  return problem;
}

} // namespace temper::doctor
