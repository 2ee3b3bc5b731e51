// A Config from defaults, a TOML file and the command line. The later wins;
// each value remembers who set it, so that an error can say where it stands.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "temper/config/config.h"

namespace temper::config {

struct Loaded {
  Config config;
  // Keys that are not at their default: "cifar.toml line 12", "--set".
  std::map<std::string, std::string> origin;
};

// "train.batch=32" as `--set` takes it; `from` is how errors call it.
struct Assignment {
  std::string key;
  std::string value;
  std::string from = "--set";
};

// Splits at the first =. Error when there is none.
Assignment parse_assignment(const std::string& text);

// Error, naming key, value, file and line, what is expected, and for unknown
// keys and words the nearest known one.
Loaded load(
    const std::optional<std::filesystem::path>& file,
    const std::vector<Assignment>& assignments);
// The same from TOML text that did not come from a file.
Loaded load_text(
    const std::string& toml,
    const std::string& called,
    const std::vector<Assignment>& assignments);

} // namespace temper::config
