// The findings of check.h, as text for people and JSON for programs.
#pragma once

#include <string>
#include <vector>

#include "temper/data/inspect/check.h"

namespace temper::data {

std::string to_text(const DataReport& report, int width);
std::string to_json(const DataReport& report); // schema 1

struct HistogramRow {
  std::string name;
  std::int64_t count = 0;
};

// One line a row with a bar, all of at most `width` columns; of more than
// `most` rows only the fullest and the emptiest are shown.
std::string histogram(
    const std::vector<HistogramRow>& rows,
    int width,
    std::size_t most = 24);

// How the classes of a source are filled, where that is known without reading
// it; else empty.
std::string classes_text(const IndexedSource& source, int width);

} // namespace temper::data
