#include "temper/data/format/date.h"

#include <array>
#include <chrono>

#include "temper/base/text.h"

namespace temper::data {
namespace {

// Reads from the front of a text.
class DateReader {
 public:
  explicit DateReader(std::string_view text) : text_(text) {}

  bool done() const {
    return text_.empty();
  }
  char peek() const {
    return text_.empty() ? '\0' : text_[0];
  }
  bool take(char wanted) {
    if (peek() != wanted) return false;
    text_.remove_prefix(1);
    return true;
  }
  // Digits, at least `least` and at most `most` of them.
  std::optional<int> number(std::size_t least, std::size_t most) {
    std::size_t length = 0;
    int value = 0;
    while (length < text_.size() && length < most && is_digit(text_[length]))
      value = value * 10 + (text_[length++] - '0');
    if (length < least) return std::nullopt;
    text_.remove_prefix(length);
    return value;
  }
  // The digits behind a decimal point.
  double fraction() {
    double value = 0;
    double place = 0.1;
    for (; !text_.empty() && is_digit(text_[0]); place /= 10) {
      value += place * (text_[0] - '0');
      text_.remove_prefix(1);
    }
    return value;
  }

 private:
  std::string_view text_;
};

struct Form {
  DateForm form;
  const char* name;
  std::string_view separators;
  int year; // its place among the three numbers
  int month;
  int day;
};

constexpr std::array<Form, kDateForms> kForms{{
    {DateForm::year_first, "year-month-day", "-/", 0, 1, 2},
    {DateForm::day_first_dots, "day.month.year", ".", 2, 1, 0},
    {DateForm::month_first, "month/day/year", "/", 2, 0, 1},
    {DateForm::day_first, "day/month/year", "/-", 2, 1, 0},
}};

std::optional<double> read_day(DateReader& reader, const Form& form) {
  std::array<int, 3> parts{};
  char separator = '\0';
  for (int i = 0; i < 3; ++i) {
    if (i == 1) {
      separator = reader.peek();
      if (separator == '\0' ||
          form.separators.find(separator) == std::string_view::npos)
        return std::nullopt;
    }
    if (i > 0 && !reader.take(separator)) return std::nullopt;
    const bool year = i == form.year;
    const auto number = reader.number(year ? 4 : 1, year ? 4 : 2);
    if (!number) return std::nullopt;
    parts[static_cast<std::size_t>(i)] = *number;
  }
  const std::chrono::year_month_day date{
      std::chrono::year{parts[static_cast<std::size_t>(form.year)]},
      std::chrono::month{
          static_cast<unsigned>(parts[static_cast<std::size_t>(form.month)])},
      std::chrono::day{
          static_cast<unsigned>(parts[static_cast<std::size_t>(form.day)])}};
  if (!date.ok()) return std::nullopt;
  const std::chrono::sys_days days{date};
  return static_cast<double>(days.time_since_epoch().count());
}

// Hours that local time is ahead of UTC; "Z" is none.
std::optional<double> read_zone(DateReader& reader) {
  if (reader.done() || reader.take('Z')) return 0.0;
  const bool behind = reader.peek() == '-';
  if (!behind && reader.peek() != '+') return std::nullopt;
  reader.take(reader.peek());
  const auto hours = reader.number(2, 2);
  reader.take(':');
  const auto minutes = reader.done() ? std::optional(0) : reader.number(2, 2);
  if (!hours || !minutes) return std::nullopt;
  const double ahead = *hours + *minutes / 60.0;
  return behind ? -ahead : ahead;
}

// A part of a day; 0 where no time follows.
std::optional<double> read_time(DateReader& reader) {
  if (reader.done()) return 0.0;
  if (!reader.take('T') && !reader.take(' ')) return std::nullopt;
  const auto hours = reader.number(1, 2);
  if (!hours || !reader.take(':')) return std::nullopt;
  const auto minutes = reader.number(2, 2);
  if (!minutes) return std::nullopt;
  double seconds = 0;
  if (reader.take(':')) {
    const auto whole = reader.number(2, 2);
    if (!whole) return std::nullopt;
    seconds = *whole;
    if (reader.take('.')) seconds += reader.fraction();
  }
  if (*hours > 24 || *minutes > 59 || seconds >= 61) return std::nullopt;
  const auto ahead = read_zone(reader);
  if (!ahead) return std::nullopt;
  return (*hours - *ahead) / 24.0 + *minutes / 1440.0 + seconds / 86400.0;
}

std::optional<double> read_date(std::string_view text, const Form& form) {
  DateReader reader(text);
  const auto day = read_day(reader, form);
  if (!day) return std::nullopt;
  const auto time = read_time(reader);
  if (!time || !reader.done()) return std::nullopt;
  return *day + *time;
}

} // namespace

const char* to_string(DateForm form) {
  return kForms[static_cast<std::size_t>(form)].name;
}

std::optional<DateForm> date_form_of(std::string_view text) {
  for (const Form& form : kForms)
    if (text == form.name) return form.form;
  return std::nullopt;
}

std::uint8_t date_forms(std::string_view text) {
  // The shortest is 1.1.2024; most texts leave here.
  if (text.size() < 8 || !is_digit(text[0])) return 0;
  std::uint8_t forms = 0;
  for (const Form& form : kForms)
    if (read_date(text, form))
      forms = static_cast<std::uint8_t>(
          forms | 1U << static_cast<unsigned>(form.form));
  return forms;
}

std::optional<double> parse_date(std::string_view text, DateForm form) {
  return read_date(text, kForms[static_cast<std::size_t>(form)]);
}

bool has_form(std::uint8_t forms, DateForm form) {
  return (forms >> static_cast<unsigned>(form) & 1U) != 0;
}

std::optional<DateForm> preferred_form(std::uint8_t forms) {
  for (const Form& form : kForms)
    if (has_form(forms, form.form)) return form.form;
  return std::nullopt;
}

} // namespace temper::data
