// A CSV file for a test, each of whose rows comes nine times.
#pragma once

#include <string>
#include <vector>

#include "temper/base/text.h"
#include "tests/temp_folder.h"

namespace temper::data {

// Its path.
inline std::string table_of(
    const TempFolder& folder,
    const std::string& name,
    const std::string& header,
    const std::vector<std::string>& rows) {
  std::string text = header + "\n";
  for (const std::string& row : rows)
    for (int i = 0; i < 9; ++i)
      text += row + "\n";
  return folder.write(name, text).string();
}

} // namespace temper::data
