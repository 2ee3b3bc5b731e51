// Dates in tables, as days since 1970-01-01, the time of day as a fraction.
// Which of 3/4 is the month is the column's to decide, so a text says in which
// forms it is a date, and a column is of a form that all its texts have.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace temper::data {

// The forms of a date, in the order in which they are preferred where several
// fit.
enum class DateForm : std::uint8_t {
  year_first, // 2024-03-31, 2024/03/31, with a time or without
  day_first_dots, // 31.03.2024
  month_first, // 03/31/2024
  day_first, // 31/03/2024, 31-03-2024
};
constexpr int kDateForms = 4;

// "year-month-day", "day.month.year", "month/day/year", "day/month/year".
const char* to_string(DateForm form);
std::optional<DateForm> date_form_of(std::string_view text);

// A bit for each form in which it is a date: 1 << form. 0: it is none.
std::uint8_t date_forms(std::string_view text);
bool has_form(std::uint8_t forms, DateForm form);

// Days, of a text that is a date in this form. "2024-03-31 12:30",
// "2024-03-31T12:30:15.25Z", "...+02:00" are understood after every form.
std::optional<double> parse_date(std::string_view text, DateForm form);

// The first form of a set of them; no value for none.
std::optional<DateForm> preferred_form(std::uint8_t forms);

} // namespace temper::data
