#include "temper/data/loader/state_fields.h"

#include "temper/base/error.h"
#include "temper/base/text.h"

namespace temper::data {

void refuse_state(const std::string& why) {
  throw Error(
      cat("[data] the loader's saved position cannot be read: ", why, "."),
      "Resume from another checkpoint.");
}

std::string hex_literal(std::uint64_t value) {
  return cat("0x", std::hex, value);
}

std::uint64_t hex_field(const StateJson& json, const char* name) {
  const auto& text = json.at(name).get_ref<const std::string&>();
  if (text.size() < 3 || text.size() > 18 || !text.starts_with("0x") ||
      text.find_first_not_of("0123456789abcdef", 2) != std::string::npos)
    refuse_state(cat(name, " is not a hexadecimal number"));
  std::uint64_t value = 0;
  for (const char digit : text.substr(2))
    value = value << 4 |
        static_cast<std::uint64_t>(
                digit <= '9' ? digit - '0' : digit - 'a' + 10);
  return value;
}

std::int64_t
number_field(const StateJson& json, const char* name, std::int64_t most) {
  const StateJson& number = json.at(name);
  if (!number.is_number_unsigned() ||
      number.get<std::uint64_t>() > static_cast<std::uint64_t>(most))
    refuse_state(cat(name, " is not a number from 0 to ", most));
  return number.get<std::int64_t>();
}

StateJson parse_state_object(const std::string& text, std::size_t most_bytes) {
  if (text.size() > most_bytes) refuse_state("it is too long");
  StateJson json = StateJson::parse(text, nullptr, false);
  if (!json.is_object()) refuse_state("it is not a JSON object");
  if (!json.contains("format")) refuse_state("it does not say its format");
  const std::int64_t format = number_field(json, "format", 1 << 20);
  if (format < 1 || format > kStateFormat)
    refuse_state("it was written by another version");
  return json;
}

} // namespace temper::data
