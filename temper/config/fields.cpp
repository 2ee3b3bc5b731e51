#include "temper/config/fields.h"

#include "temper/config/field_tables.h"

namespace temper::config {
namespace {

std::vector<Field> make_fields() {
  std::vector<Field> all = training_fields();
  for (const Field& field : keeping_fields())
    all.push_back(field);
  return all;
}

} // namespace

const std::vector<Field>& fields() {
  static const std::vector<Field> table = make_fields();
  return table;
}

const Field* find_field(const std::string& key) {
  for (const Field& field : fields())
    if (field.key == key) return &field;
  return nullptr;
}

std::vector<std::string> keys() {
  std::vector<std::string> names;
  for (const Field& field : fields())
    names.emplace_back(field.key);
  return names;
}

} // namespace temper::config
