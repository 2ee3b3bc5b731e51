#include "temper/plot/heat_map.h"

#include <algorithm>
#include <cmath>

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/plot/style.h"

namespace temper::plot {
namespace {

constexpr double kLongestName = 150;
constexpr double kBar = 14; // the scale's width
constexpr double kReadable = 12; // between two names
constexpr double kRoomForNumber = 26;

// White to a dark blue; the root lets few mistakes be seen.
Colour shade(double part) {
  const double deep = std::sqrt(std::clamp(part, 0.0, 1.0));
  const auto mix = [&](double to) { return 1 + (to - 1) * deep; };
  return {mix(0.03), mix(0.19), mix(0.42)};
}

const Colour& ink_on(double part) {
  return part > 0.3 ? kPaper : kInk;
}

double cell_for(std::size_t count) {
  return std::clamp(520.0 / static_cast<double>(count), 3.0, 46.0);
}

class Painter {
 public:
  Painter(Canvas& canvas, const HeatMap& map, double margin)
      : canvas_(canvas),
        map_(map),
        count_(map.names.size()),
        cell_(cell_for(count_)),
        grid_{
            margin,
            56,
            cell_ * static_cast<double>(count_),
            cell_ * static_cast<double>(count_)} {}

  void paint() {
    canvas_.text(
        {grid_.left, 24}, map_.title, {kTitleSize, kInk, Align::left, true});
    canvas_.fill(grid_, kGrid);
    for (std::size_t row = 0; row < count_; ++row)
      paint_row(row);
    name_rows_and_columns();
    paint_titles();
    paint_scale();
  }

 private:
  void paint_row(std::size_t row) {
    const std::int64_t* counts = map_.counts.data() + row * count_;
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < count_; ++i)
      sum += counts[i];
    const double gap = cell_ > 8 ? 1 : 0;
    for (std::size_t i = 0; i < count_; ++i) {
      const double part = sum == 0
          ? 0
          : static_cast<double>(counts[i]) / static_cast<double>(sum);
      const Box box{
          grid_.left + cell_ * static_cast<double>(i),
          grid_.top + cell_ * static_cast<double>(row),
          cell_ - gap,
          cell_ - gap};
      canvas_.fill(box, shade(part));
      if (cell_ < kRoomForNumber || counts[i] == 0) continue;
      const long percent = std::lround(part * 100);
      canvas_.text(
          {box.left + box.width / 2, box.top + box.height / 2 + 3.5},
          percent == 0 ? "<1" : cat(percent),
          {kTickSize, ink_on(part), Align::centre});
    }
  }

  void name_rows_and_columns() {
    const auto stride =
        static_cast<std::size_t>(std::max(1.0, std::ceil(kReadable / cell_)));
    const TextStyle row{kTickSize, kInk, Align::right};
    const TextStyle column{kTickSize, kInk, Align::right, false, -45};
    for (std::size_t i = 0; i < count_; i += stride) {
      const double middle = cell_ * (static_cast<double>(i) + 0.5);
      canvas_.text(
          {grid_.left - 6, grid_.top + middle + 3.5},
          canvas_.fitting(map_.names[i], kLongestName, row),
          row);
      canvas_.text(
          {grid_.left + middle + 4, grid_.bottom() + 12},
          canvas_.fitting(map_.names[i], kLongestName, column),
          column);
    }
  }

  void paint_titles() {
    canvas_.text(
        {16, grid_.top + grid_.height / 2},
        map_.row_title,
        {kLabelSize, kInk, Align::centre, false, -90});
    canvas_.text(
        {grid_.left + grid_.width / 2, 44},
        map_.column_title,
        {kLabelSize, kInk, Align::centre});
  }

  void paint_scale() {
    const double left = grid_.right() + 24;
    const double height = std::max(grid_.height, 90.0);
    constexpr int kSteps = 64;
    for (int i = 0; i < kSteps; ++i)
      canvas_.fill(
          {left, grid_.top + height * i / kSteps, kBar, height / kSteps + 0.5},
          shade(1 - (i + 0.5) / kSteps));
    for (const int percent : {0, 25, 50, 75, 100})
      canvas_.text(
          {left + kBar + 6, grid_.top + height * (100 - percent) / 100 + 3.5},
          cat(percent, " %"),
          {kTickSize, kQuiet});
    canvas_.text(
        {left + kBar + 52, grid_.top + height / 2},
        map_.scale_title,
        {kLabelSize, kInk, Align::centre, false, 90});
  }

  Canvas& canvas_;
  const HeatMap& map_;
  std::size_t count_;
  double cell_;
  Box grid_;
};

// Letters are about half as wide as they are high; a name has room for more.
double room_for(const std::vector<std::string>& names) {
  std::size_t longest = 1;
  for (const std::string& name : names)
    longest = std::max(longest, name.size());
  return std::min(
      kLongestName, 0.75 * kTickSize * static_cast<double>(longest) + 4);
}

} // namespace

Drawing heat_map(HeatMap map) {
  const std::size_t count = map.names.size();
  check(
      count > 0 && map.counts.size() == count * count,
      "a heat map is square and has names");
  const double margin = 34 + room_for(map.names);
  const double grid = cell_for(count) * static_cast<double>(count);
  const double title =
      0.75 * kTitleSize * static_cast<double>(map.title.size());
  const double width =
      margin + std::max(std::max(grid, 60.0) + 24 + kBar + 70, title);
  const double height =
      56 + std::max(grid, 90.0) + 24 + 0.75 * room_for(map.names);
  return {width, height, [=, map = std::move(map)](Canvas& canvas) {
            canvas.fill({0, 0, width, height}, kPaper);
            Painter(canvas, map, margin).paint();
          }};
}

} // namespace temper::plot
