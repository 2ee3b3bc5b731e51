// The cases of reference/zoo.py: what PyTorch and torchvision gave.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "temper/model/zoo/zoo.h"
#include "tests/paths.h"

namespace temper::model {

struct ZooCase {
  std::string name;
  nlohmann::json expected;
};

// The name of the test, in GoogleTest's lists.
inline void PrintTo(const ZooCase& each, std::ostream* out) {
  *out << each.name;
}

inline std::vector<ZooCase> zoo_cases() {
  std::vector<ZooCase> cases;
  const std::filesystem::path folder = tests::fixtures() / "zoo";
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    cases.push_back(
        {entry.path().stem().string(),
         nlohmann::json::parse(std::ifstream(entry.path()))});
  std::sort(cases.begin(), cases.end(), [](const auto& a, const auto& b) {
    return a.name < b.name;
  });
  return cases;
}

inline ZooOptions zoo_options(const nlohmann::json& case_options) {
  ZooOptions options;
  const auto optional = [&](const char* key, auto& field) {
    if (case_options.contains(key)) field = case_options.at(key).get<int>();
  };
  options.name = case_options.at("name");
  options.stem = case_options.value("stem", "");
  options.width = case_options.value("width", 1.0);
  options.widths = case_options.value("widths", std::vector<std::int64_t>{});
  optional("classes", options.classes);
  optional("image_size", options.image_size);
  optional("channels", options.channels);
  optional("context", options.context);
  optional("vocabulary", options.vocabulary);
  if (options.name == "mobilenet_v2") options.dropout = 0.0;
  return options;
}

} // namespace temper::model
