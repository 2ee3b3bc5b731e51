// Looking into JSON that a stranger wrote. Each function asks for a thing by
// name and kind, and says what is wrong in a few words when it is not there.
// Private to graph/pt2.
#pragma once

#include <cstdint>
#include <exception>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace temper::graph::pt2 {

using Json = nlohmann::json;

// Why the file cannot be read: the middle of a sentence. read_pt2 makes an
// Error of it, with the file's path in front.
class Unreadable : public std::exception {
 public:
  explicit Unreadable(std::string why, std::string hint = "")
      : why_(std::move(why)), hint_(std::move(hint)) {}
  const char* what() const noexcept override {
    return why_.c_str();
  }
  const std::string& why() const {
    return why_;
  }
  const std::string& hint() const {
    return hint_;
  }

 private:
  std::string why_;
  std::string hint_;
};

// Runs `work`; what it finds unreadable is told with its place in front.
template <class Work>
void at_place(const std::string& place, const Work& work) {
  try {
    work();
  } catch (const Unreadable& problem) {
    throw Unreadable(place + ": " + problem.why(), problem.hint());
  }
}

// `name` is for the message. Nothing is nested deeper than a model needs.
Json parse_json(std::string_view text, const std::string& name);

// The field of that name; null when there is none, or `object` is no object.
const Json* find(const Json& object, const char* name);
const Json& need(const Json& object, const char* name);

const Json& object_of(const Json& value, const char* what);
const Json& list_of(const Json& value, const char* what);
std::string text_of(const Json& value, const char* what);
// A text without control characters, which would reach a terminal; not empty.
std::string name_of(const Json& value, const char* what);
std::int64_t int_of(const Json& value, const char* what);
double float_of(const Json& value, const char* what); // "Infinity", "NaN" too
bool bool_of(const Json& value, const char* what);

// torch.export's unions: an object of one field, {"as_int": 3}.
struct Choice {
  const std::string& kind;
  const Json& value;
};
Choice choice_of(const Json& value, const char* what);

// Fit for an error message, whatever is in it.
std::string shown(std::string_view text);

} // namespace temper::graph::pt2
