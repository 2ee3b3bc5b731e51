#include "temper/data/pack/pack_about.h"

#include <nlohmann/json.hpp>

#include "temper/base/text.h"

namespace temper::data {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostParts = 2;

Json part_json(const PackPart& part) {
  Json json;
  json["name"] = part.info.name;
  json["size"] = part.size;
  json["fingerprint"] = part.fingerprint;
  json["of_content"] = part.of_content;
  if (part.divided) json["divided"] = true;
  json["channels"] = part.info.channels;
  json["height"] = part.info.height;
  json["width"] = part.info.width;
  json["classes"] = part.info.classes;
  json["mean"] = part.info.mean;
  json["deviation"] = part.info.deviation;
  return json;
}

PackPart read_part(const Json& json) {
  PackPart part;
  json.at("name").get_to(part.info.name);
  json.at("size").get_to(part.size);
  json.at("fingerprint").get_to(part.fingerprint);
  part.of_content = json.value("of_content", false);
  part.divided = json.value("divided", false);
  json.at("channels").get_to(part.info.channels);
  json.at("height").get_to(part.info.height);
  json.at("width").get_to(part.info.width);
  json.at("classes").get_to(part.info.classes);
  json.at("mean").get_to(part.info.mean);
  json.at("deviation").get_to(part.info.deviation);
  if (part.size < 0 || part.info.height < 0 || part.info.width < 0)
    throw Error("negative sizes");
  return part;
}

} // namespace

std::string write_about(const std::vector<PackPart>& parts) {
  Json json;
  json["parts"] = Json::array();
  for (const auto& part : parts)
    json["parts"].push_back(part_json(part));
  // Names come from file systems and need not be UTF-8.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::vector<PackPart> read_about(std::string_view text) {
  const Json json = Json::parse(text.begin(), text.end(), nullptr, false);
  try {
    const Json& parts = json.at("parts");
    if (!parts.is_array() || parts.empty() || parts.size() > kMostParts)
      throw Error("one or two parts");
    std::vector<PackPart> read;
    for (const auto& part : parts)
      read.push_back(read_part(part));
    return read;
  } catch (const std::exception& error) {
    throw Error(
        cat("what it says about its data is malformed: ", error.what()));
  }
}

} // namespace temper::data
