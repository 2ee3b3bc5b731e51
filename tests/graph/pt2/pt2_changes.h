// A sound archive with something changed: for tests of what the reader refuses.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "pt2_files.h"
#include "temper/base/file/zip_file.h"
#include "temper/base/file/zip_writer.h"

namespace temper::graph {

class ChangedPt2 {
 public:
  using Json = nlohmann::json;

  explicit ChangedPt2(const std::string& fixture) {
    const ZipFile zip(pt2_fixture(fixture), "test", "");
    for (const auto& entry : zip.entries()) {
      const auto bytes = zip.read(entry);
      const auto start = entry.name.find('/') + 1;
      entries_.emplace_back(
          entry.name.substr(start),
          std::string(
              reinterpret_cast<const char*>(bytes.data.get()), bytes.size));
    }
    program = Json::parse(text("models/model.json"));
    weights = Json::parse(text("data/weights/model_weights_config.json"));
  }

  // The node that makes a value of this name.
  Json& node(const std::string& name) {
    for (Json& each : graph()["nodes"])
      if (each["name"] == name) return each;
    throw std::runtime_error("no node " + name);
  }
  Json& graph() {
    return program["graph_module"]["graph"];
  }
  Json& signature() {
    return program["graph_module"]["signature"];
  }
  Json& weight(const std::string& name) {
    return weights["config"][name];
  }
  std::string& text(const std::string& name) {
    for (auto& [each, bytes] : entries_)
      if (each == name) return bytes;
    entries_.emplace_back(name, "");
    return entries_.back().second;
  }
  void remove(const std::string& name) {
    std::erase_if(entries_, [&](const auto& e) { return e.first == name; });
  }
  // In place of what `program` and `weights` would be written as.
  void put(const std::string& name, const std::string& bytes) {
    text(name) = bytes;
    fixed_.push_back(name);
  }

  std::filesystem::path write() {
    const auto keep = [&](const std::string& name, const Json& json) {
      for (const auto& each : fixed_)
        if (each == name) return;
      for (auto& [each, bytes] : entries_)
        if (each == name) bytes = json.dump();
    };
    keep("models/model.json", program);
    keep("data/weights/model_weights_config.json", weights);
    const auto path = folder_ / "net.pt2";
    ZipWriter zip(path);
    for (const auto& [name, bytes] : entries_)
      zip.add("net/" + name, bytes);
    zip.commit();
    return path;
  }

  Json program;
  Json weights;

 private:
  std::vector<std::pair<std::string, std::string>> entries_;
  std::vector<std::string> fixed_;
  Pt2Folder folder_;
};

} // namespace temper::graph
