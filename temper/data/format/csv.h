// Rows of a CSV file in memory, as RFC 4180 has them: quoted fields may hold
// delimiters, line ends and doubled quotes; lines end with LF or CRLF. Blank
// lines are passed over, blanks around an unquoted field are dropped.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace temper::data {

constexpr std::size_t kMostCsvColumns = 65536;

// Comma, semicolon or tab: whichever the first line has most of.
char detect_delimiter(std::string_view text);

// The text of a file without the mark that some programs begin UTF-8 with. One
// that is not UTF-8 is taken for Windows-1252, whose text goes into `recoded`,
// which is empty otherwise. Error, naming `name`, when it is UTF-16.
std::string_view
csv_text(std::string_view file, const std::string& name, std::string& recoded);

class CsvReader {
 public:
  CsvReader(std::string_view text, char delimiter, std::string name);

  // The fields of the next row, valid until the next call; false at the end.
  // Error, with file and line, when a quote does not close.
  bool next(std::vector<std::string_view>& fields);
  // Where the row that next() gave begins; the first line is 1.
  std::int64_t line() const {
    return row_line_;
  }

 private:
  std::string_view quoted_field();
  std::string_view plain_field();
  [[noreturn]] void refuse(const std::string& why) const;

  std::string_view text_;
  char delimiter_;
  std::string name_;
  std::size_t at_ = 0;
  std::int64_t line_ = 1;
  std::int64_t row_line_ = 0;
  // Fields with doubled quotes, without the doubles. A deque, so that growing
  // leaves the views into it alone.
  std::deque<std::string> unescaped_;
  std::size_t used_ = 0;
};

// "", "NA", "N/A", "NaN", "null", "?", in any case.
bool is_missing(std::string_view field);

} // namespace temper::data
