#include "temper/graph/pt2/pt2_arguments.h"

#include <cmath>
#include <functional>
#include <map>

#include "temper/base/text.h"
#include "temper/graph/pt2/pt2_values.h"

namespace temper::graph::pt2 {
namespace {

constexpr std::int64_t kLargestCode = 1000;

TensorName tensor(const Json& json) {
  return {name_of(need(json, "name"), "name")};
}

template <class Element, class Read>
std::vector<Element> list(const Json& json, const char* what, Read read) {
  std::vector<Element> items;
  items.reserve(list_of(json, what).size());
  for (const Json& each : json)
    items.push_back(read(each));
  return items;
}

std::optional<TensorName> optional_tensor(const Json& json) {
  const auto [kind, value] = choice_of(json, "optional tensor");
  if (kind == "as_none") return std::nullopt;
  if (kind == "as_tensor") return tensor(value);
  throw Unreadable(cat("an optional tensor is of the kind ", shown(kind)));
}

int code(const Json& json, const char* what) {
  const std::int64_t number = int_of(json, what);
  if (number < 0 || number > kLargestCode)
    throw Unreadable(cat("its ", what, " is ", number));
  return static_cast<int>(number);
}

// {"as_name": "sym_size"} or the number itself, {"as_int": 3}.
IntOrName int_or_name(const Json& json) {
  const auto [kind, value] = choice_of(json, "size");
  if (kind == "as_name") return NumberName{name_of(value, "as_name")};
  if (kind == "as_int") return int_of(value, "as_int");
  throw Unreadable(cat("a size is of the kind ", shown(kind)));
}

Argument sym_int(const Json& json) {
  return std::visit(
      [](const auto& each) { return Argument(each); }, int_or_name(json));
}

Argument sym_float(const Json& json) {
  const auto [kind, value] = choice_of(json, "as_sym_float");
  if (kind == "as_name")
    return NumberName{name_of(value, "as_name"), NumberKind::kFloat};
  return float_of(value, "as_sym_float");
}

Argument sym_bool(const Json& json) {
  const auto [kind, value] = choice_of(json, "as_sym_bool");
  if (kind == "as_name")
    return NumberName{name_of(value, "as_name"), NumberKind::kBool};
  return bool_of(value, "as_sym_bool");
}

// Lists of computed floats or bools: only those that hold plain ones.
template <class Element>
std::vector<Element>
plain(const Json& json, const char* what, Argument (*read)(const Json&)) {
  std::vector<Element> items;
  for (const Json& each : list_of(json, what)) {
    const Argument item = read(each);
    const auto* value = std::get_if<Element>(&item);
    if (value == nullptr)
      throw Unreadable(cat("its ", what, " hold a computed number"));
    items.push_back(*value);
  }
  return items;
}

using Reader = std::function<Argument(const Json&)>;

const std::map<std::string, Reader>& readers() {
  static const std::map<std::string, Reader> table{
      {"as_none", [](const Json&) { return None{}; }},
      {"as_tensor", [](const Json& j) { return tensor(j); }},
      {"as_tensors",
       [](const Json& j) { return list<TensorName>(j, "as_tensors", tensor); }},
      {"as_optional_tensor",
       [](const Json& j) -> Argument {
         const auto found = optional_tensor(j);
         if (found) return *found;
         return None{};
       }},
      {"as_optional_tensors",
       [](const Json& j) {
         return list<std::optional<TensorName>>(
             j, "as_optional_tensors", optional_tensor);
       }},
      {"as_int", [](const Json& j) { return int_of(j, "as_int"); }},
      {"as_ints",
       [](const Json& j) {
         return list<std::int64_t>(
             j, "as_ints", [](const Json& e) { return int_of(e, "as_ints"); });
       }},
      {"as_sym_int", sym_int},
      {"as_sym_ints",
       [](const Json& j) {
         return list<IntOrName>(j, "as_sym_ints", int_or_name);
       }},
      {"as_float", [](const Json& j) { return float_of(j, "as_float"); }},
      {"as_floats",
       [](const Json& j) {
         return list<double>(j, "as_floats", [](const Json& e) {
           return float_of(e, "as_floats");
         });
       }},
      {"as_sym_float", sym_float},
      {"as_sym_floats",
       [](const Json& j) {
         return plain<double>(j, "as_sym_floats", sym_float);
       }},
      {"as_bool", [](const Json& j) { return bool_of(j, "as_bool"); }},
      {"as_bools",
       [](const Json& j) {
         return list<bool>(j, "as_bools", [](const Json& e) {
           return bool_of(e, "as_bools");
         });
       }},
      {"as_sym_bool", sym_bool},
      {"as_sym_bools",
       [](const Json& j) { return plain<bool>(j, "as_sym_bools", sym_bool); }},
      {"as_string", [](const Json& j) { return text_of(j, "as_string"); }},
      {"as_strings",
       [](const Json& j) {
         return list<std::string>(j, "as_strings", [](const Json& e) {
           return text_of(e, "as_strings");
         });
       }},
      {"as_scalar_type", [](const Json& j) { return read_dtype(j); }},
      {"as_memory_format",
       [](const Json& j) { return MemoryFormat{code(j, "memory format")}; }},
      {"as_layout", [](const Json& j) { return Layout{code(j, "layout")}; }},
      {"as_device", [](const Json& j) { return read_device(j); }}};
  return table;
}

Json written(double number) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number > 0 ? "Infinity" : "-Infinity";
  return number;
}

const char* number_kind(NumberKind kind) {
  switch (kind) {
    case NumberKind::kInt:
      return "as_sym_int";
    case NumberKind::kFloat:
      return "as_sym_float";
    case NumberKind::kBool:
      return "as_sym_bool";
  }
  return "as_sym_int";
}

struct Writer {
  Json operator()(const None&) const {
    return {{"as_none", true}};
  }
  Json operator()(const TensorName& tensor) const {
    return {{"as_tensor", {{"name", tensor.name}}}};
  }
  Json operator()(const TensorNames& tensors) const {
    Json list = Json::array();
    for (const TensorName& each : tensors)
      list.push_back({{"name", each.name}});
    return {{"as_tensors", list}};
  }
  Json operator()(const OptionalTensorNames& tensors) const {
    Json list = Json::array();
    for (const auto& each : tensors)
      list.push_back(each ? (*this)(*each) : (*this)(None{}));
    return {{"as_optional_tensors", list}};
  }
  Json operator()(const NumberName& number) const {
    return {{number_kind(number.kind), {{"as_name", number.name}}}};
  }
  Json operator()(std::int64_t number) const {
    return {{"as_int", number}};
  }
  Json operator()(const Ints& numbers) const {
    return {{"as_ints", numbers}};
  }
  Json operator()(const std::vector<IntOrName>& sizes) const {
    Json list = Json::array();
    for (const IntOrName& each : sizes)
      if (const auto* name = std::get_if<NumberName>(&each))
        list.push_back({{"as_name", name->name}});
      else
        list.push_back({{"as_int", std::get<std::int64_t>(each)}});
    return {{"as_sym_ints", list}};
  }
  Json operator()(double number) const {
    return {{"as_float", written(number)}};
  }
  Json operator()(const std::vector<double>& numbers) const {
    Json list = Json::array();
    for (const double each : numbers)
      list.push_back(written(each));
    return {{"as_floats", list}};
  }
  Json operator()(bool value) const {
    return {{"as_bool", value}};
  }
  Json operator()(const std::vector<bool>& values) const {
    return {{"as_bools", values}};
  }
  Json operator()(const std::string& text) const {
    return {{"as_string", text}};
  }
  Json operator()(const std::vector<std::string>& texts) const {
    return {{"as_strings", texts}};
  }
  Json operator()(DType type) const {
    return {{"as_scalar_type", static_cast<int>(type)}};
  }
  Json operator()(MemoryFormat format) const {
    return {{"as_memory_format", format.code}};
  }
  Json operator()(Layout layout) const {
    return {{"as_layout", layout.code}};
  }
  Json operator()(const Device& device) const {
    return {{"as_device", write_device(device)}};
  }
};

} // namespace

Argument read_argument(const Json& json) {
  const auto [kind, value] = choice_of(json, "arg");
  const auto found = readers().find(kind);
  if (found != readers().end()) return found->second(value);
  if (kind == "as_graph")
    throw Unreadable(
        "it runs a graph of its own, which temper does not",
        "Write the model without it.");
  if (kind == "as_complex") refuse_complex();
  throw Unreadable(
      cat("it has an argument of the kind ",
          shown(kind),
          ", which temper does not know"));
}

Json write_argument(const Argument& argument) {
  return std::visit(Writer{}, argument);
}

Result read_result(const Json& json) {
  const Argument read = read_argument(json);
  if (const auto* tensor = std::get_if<TensorName>(&read)) return *tensor;
  if (const auto* tensors = std::get_if<TensorNames>(&read)) return *tensors;
  if (const auto* number = std::get_if<NumberName>(&read)) return *number;
  if (std::holds_alternative<None>(read)) return None{};
  throw Unreadable(
      cat("it has a result of the kind ",
          shown(choice_of(json, "result").kind),
          ", which temper does not know"));
}

Json write_result(const Result& result) {
  return std::visit(Writer{}, result);
}

} // namespace temper::graph::pt2
