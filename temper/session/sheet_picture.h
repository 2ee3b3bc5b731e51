// Samples of a source as a sheet of pictures, each with its label or another
// caption below.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "temper/data/inspect/sheet_samples.h"
#include "temper/plot/canvas.h"

namespace temper::session {

struct Caption {
  std::vector<std::string> lines;
  bool alarm = false; // in red
};

plot::Drawing sheet_picture(
    const std::vector<data::SheetSample>& samples,
    int columns,
    const std::function<Caption(const data::SheetSample&)>& caption);

// The label alone.
Caption label_caption(const data::SheetSample& sample);

} // namespace temper::session
