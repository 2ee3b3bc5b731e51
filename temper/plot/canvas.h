// A surface to draw on with real fonts, which becomes SVG or PNG: one drawing
// gives both. Lengths are points from the upper left corner. On cairo.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace temper::plot {

// Parts from 0 to 1.
struct Colour {
  double red = 0;
  double green = 0;
  double blue = 0;
};

struct Point {
  double x = 0;
  double y = 0;
};

struct Box {
  double left = 0;
  double top = 0;
  double width = 0;
  double height = 0;

  double right() const {
    return left + width;
  }
  double bottom() const {
    return top + height;
  }
};

enum class Align { left, centre, right };

struct TextStyle {
  double size = 11;
  Colour colour;
  Align align = Align::left; // around the given point
  bool bold = false;
  double degrees = 0; // turned clockwise around the given point
};

struct LineStyle {
  Colour colour;
  double width = 1;
  bool dashed = false;
};

class Canvas {
 public:
  // A cairo_t, which whoever made it keeps.
  explicit Canvas(void* context) : context_(context) {}

  void fill(const Box& box, const Colour& colour);
  // Through all points; one that is not finite is a gap.
  void line(const std::vector<Point>& points, const LineStyle& style);
  void dot(const Point& centre, double radius, const Colour& colour);
  // The baseline begins, is centred or ends at the point. Bytes that are not
  // UTF-8 and control characters become a replacement character.
  void text(const Point& at, const std::string& words, const TextStyle& style);
  double width_of(const std::string& words, const TextStyle& style);
  // The longest beginning that fits, with an ellipsis when it is not all.
  std::string
  fitting(const std::string& words, double width, const TextStyle& style);
  // Rows of red, green and blue bytes, scaled into the box: pixels become
  // blocks when they grow, and are averaged when they shrink.
  void picture(const Box& box, const std::uint8_t* rgb, int width, int height);

 private:
  void* context_;
};

struct Drawing {
  double width = 0;
  double height = 0;
  std::function<void(Canvas&)> draw;
};

// Files of the drawing; Error when cairo cannot make them. A PNG has `scale`
// pixels a point.
std::string as_svg(const Drawing& drawing);
std::string as_png(const Drawing& drawing, double scale = 2);

} // namespace temper::plot
