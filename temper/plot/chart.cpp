#include "temper/plot/chart.h"

#include <algorithm>
#include <cmath>

#include "temper/base/error.h"
#include "temper/plot/axis.h"
#include "temper/plot/style.h"

namespace temper::plot {
namespace {

struct Range {
  double low = 0;
  double high = 1;
};

// A little room at both ends; never empty.
Range widened(Range range) {
  const double room = range.high > range.low
      ? 0.04 * (range.high - range.low)
      : std::max(0.5 * std::abs(range.low), 1e-9);
  return {range.low - room, range.high + room};
}

bool shown(const Chart& chart, double y) {
  return std::isfinite(y) && (!chart.log_y || y > 0);
}

// A value as it lies on its axis.
double placed(const Chart& chart, double y) {
  return chart.log_y ? std::log10(y) : y;
}

double placed_across(const Chart& chart, double x) {
  check(!chart.log_x || x > 0, "a logarithmic axis is above zero");
  return chart.log_x ? std::log10(x) : x;
}

Range range_of_x(const Chart& chart) {
  Range range{HUGE_VAL, -HUGE_VAL};
  for (const Series& series : chart.series)
    for (const double x : series.x) {
      range.low = std::min(range.low, placed_across(chart, x));
      range.high = std::max(range.high, placed_across(chart, x));
    }
  if (range.low > range.high) return {0, 1};
  if (range.low == range.high) return {range.low - 0.5, range.high + 0.5};
  return range;
}

Range range_of_y(const Chart& chart) {
  Range range{HUGE_VAL, -HUGE_VAL};
  for (const Series& series : chart.series)
    for (const double y : series.y) {
      if (!shown(chart, y)) continue;
      range.low = std::min(range.low, placed(chart, y));
      range.high = std::max(range.high, placed(chart, y));
    }
  if (range.low > range.high) return {0, 1};
  range = widened(range);
  if (chart.lowest_y < chart.highest_y) {
    range.low = std::max(range.low, placed(chart, chart.lowest_y));
    range.high = std::min(range.high, placed(chart, chart.highest_y));
    if (range.low >= range.high)
      return {placed(chart, chart.lowest_y), placed(chart, chart.highest_y)};
  }
  return range;
}

struct Frame {
  Box box;
  Range x;
  Range y;

  double across(double value) const {
    return box.left + (value - x.low) / (x.high - x.low) * box.width;
  }
  double up(double value) const {
    return box.bottom() - (value - y.low) / (y.high - y.low) * box.height;
  }
};

// The range holds logarithms, and so do the ticks that are returned.
std::vector<Tick> placed_log_ticks(const Range& range) {
  auto found = log_ticks(std::pow(10.0, range.low), std::pow(10.0, range.high));
  for (Tick& tick : found)
    tick.value = std::log10(tick.value);
  return found;
}

std::vector<Tick> ticks_of_y(const Chart& chart, const Range& range) {
  return chart.log_y ? placed_log_ticks(range)
                     : ticks(range.low, range.high, 5);
}

std::vector<Tick> ticks_of_x(const Chart& chart, const Range& range) {
  return chart.log_x ? placed_log_ticks(range)
                     : ticks(range.low, range.high, 6, 1);
}

double
widest(Canvas& canvas, const std::vector<Tick>& all, const TextStyle& style) {
  double width = 0;
  for (const Tick& tick : all)
    width = std::max(width, canvas.width_of(tick.text, style));
  return width;
}

void draw_axes(
    Canvas& canvas,
    const Frame& frame,
    const Chart& chart,
    const std::vector<Tick>& rows) {
  const Box& box = frame.box;
  TextStyle style{kTickSize, kQuiet, Align::right};
  for (const Tick& tick : rows) {
    const double y = frame.up(tick.value);
    canvas.line({{box.left, y}, {box.right(), y}}, {kGrid});
    canvas.text({box.left - 6, y + 3.5}, tick.text, style);
  }
  style.align = Align::centre;
  for (const Tick& tick : ticks_of_x(chart, frame.x)) {
    const double x = frame.across(tick.value);
    canvas.line({{x, box.bottom()}, {x, box.bottom() + 4}}, {kQuiet});
    canvas.text({x, box.bottom() + 16}, tick.text, style);
  }
  canvas.line(
      {{box.left, box.top},
       {box.left, box.bottom()},
       {box.right(), box.bottom()}},
      {kQuiet});
  canvas.text(
      {box.left + box.width / 2, box.bottom() + 33},
      chart.x_label,
      {kLabelSize, kInk, Align::centre});
}

const Colour& colour_of(const Series& series) {
  return kPalette.at(static_cast<std::size_t>(series.colour) % kPalette.size());
}

void draw_series(Canvas& canvas, const Frame& frame, const Chart& chart) {
  for (const Series& series : chart.series) {
    check(series.x.size() == series.y.size(), "a series has pairs");
    std::vector<Point> points;
    for (std::size_t i = 0; i < series.x.size(); ++i)
      points.push_back(
          {frame.across(placed_across(chart, series.x[i])),
           shown(chart, series.y[i]) ? std::clamp(
                                           frame.up(placed(chart, series.y[i])),
                                           frame.box.top,
                                           frame.box.bottom())
                                     : std::nan("")});
    canvas.line(points, {colour_of(series), 1.8, series.dashed});
    constexpr std::size_t kFewPoints = 40; // which are worth a dot each
    if (points.size() <= kFewPoints && !series.dashed)
      for (const Point& point : points)
        if (std::isfinite(point.y)) canvas.dot(point, 2.2, colour_of(series));
  }
}

// In one row below the title.
void draw_legend(Canvas& canvas, const Box& box, const Chart& chart) {
  double x = box.left;
  const TextStyle style{kTickSize, kInk};
  for (const Series& series : chart.series) {
    canvas.line(
        {{x, box.top - 3.5}, {x + 18, box.top - 3.5}},
        {colour_of(series), 2.2, series.dashed});
    canvas.text({x + 23, box.top}, series.name, style);
    x += 23 + canvas.width_of(series.name, style) + 16;
  }
}

} // namespace

void draw_chart(Canvas& canvas, const Box& box, const Chart& chart) {
  const Range y = range_of_y(chart);
  const auto rows = ticks_of_y(chart, y);
  const double margin = widest(canvas, rows, {kTickSize, kQuiet}) +
      (chart.y_label.empty() ? 14 : 32);
  const Frame frame{
      {box.left + margin,
       box.top + 46,
       box.width - margin - 14,
       box.height - 90},
      range_of_x(chart),
      y};
  canvas.text(
      {frame.box.left, box.top + 14},
      chart.title,
      {kTitleSize, kInk, Align::left, true});
  draw_legend(canvas, {frame.box.left, box.top + 34, 0, 0}, chart);
  draw_axes(canvas, frame, chart, rows);
  if (!chart.y_label.empty())
    canvas.text(
        {box.left + 12, frame.box.top + frame.box.height / 2},
        chart.y_label,
        {kLabelSize, kInk, Align::centre, false, -90});
  draw_series(canvas, frame, chart);
}

Drawing charts(std::vector<Chart> all) {
  constexpr double kWidth = 380;
  constexpr double kHeight = 300;
  constexpr double kMargin = 12;
  const double width = kWidth * static_cast<double>(all.size()) + 2 * kMargin;
  const double height = kHeight + 2 * kMargin;
  return {width, height, [=, all = std::move(all)](Canvas& canvas) {
            canvas.fill({0, 0, width, height}, kPaper);
            double left = kMargin;
            for (const Chart& chart : all) {
              draw_chart(canvas, {left, kMargin, kWidth, kHeight}, chart);
              left += kWidth;
            }
          }};
}

} // namespace temper::plot
