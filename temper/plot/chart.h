// Lines over a common axis of epochs or updates, with title, labelled axes and
// a legend.
#pragma once

#include <string>
#include <vector>

#include "temper/plot/canvas.h"

namespace temper::plot {

struct Series {
  std::string name;
  std::vector<double> x;
  std::vector<double> y; // one for each x; what is not finite is a gap
  int colour = 0; // of the palette
  bool dashed = false;
};

struct Chart {
  std::string title;
  std::string x_label;
  std::string y_label;
  std::vector<Series> series = {};
  bool log_y = false; // what is not above 0 is a gap then
  bool log_x = false; // every x is above 0 then
  double lowest_y = 0; // the axis does not go below; equal to highest_y: free
  double highest_y = 0;
};

void draw_chart(Canvas& canvas, const Box& box, const Chart& chart);

// Several beside each other, on white.
Drawing charts(std::vector<Chart> all);

} // namespace temper::plot
