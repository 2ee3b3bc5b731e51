#include "temper/plot/canvas.h"

#include <cairo/cairo-svg.h>
#include <cairo/cairo.h>

#include <cmath>
#include <memory>
#include <numbers>

#include "temper/base/error.h"
#include "temper/base/text.h"

namespace temper::plot {
namespace {

constexpr const char* kReplacement = "\xEF\xBF\xBD";
constexpr const char* kEllipsis = "\xE2\x80\xA6";

struct Destroy {
  void operator()(cairo_t* context) const {
    cairo_destroy(context);
  }
  void operator()(cairo_surface_t* surface) const {
    cairo_surface_destroy(surface);
  }
};
using Context = std::unique_ptr<cairo_t, Destroy>;
using Surface = std::unique_ptr<cairo_surface_t, Destroy>;

cairo_t* cairo(void* context) {
  return static_cast<cairo_t*>(context);
}

void require(cairo_status_t status) {
  if (status != CAIRO_STATUS_SUCCESS)
    throw Error(
        cat("[plot] the picture could not be drawn: ",
            cairo_status_to_string(status),
            "."));
}

cairo_status_t
append(void* file, const unsigned char* bytes, unsigned int count) {
  static_cast<std::string*>(file)->append(
      reinterpret_cast<const char*>(bytes), count);
  return CAIRO_STATUS_SUCCESS;
}

// How many bytes a character that begins so has; 0: none begins so.
std::size_t length_of(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first < 0xE0) return 2;
  if (first >= 0xE0 && first < 0xF0) return 3;
  if (first >= 0xF0 && first < 0xF5) return 4;
  return 0;
}

// cairo stops drawing altogether at what is not UTF-8.
std::vector<std::string> characters(const std::string& words) {
  std::vector<std::string> all;
  for (std::size_t at = 0; at < words.size();) {
    const auto first = static_cast<unsigned char>(words[at]);
    const std::size_t length = length_of(first);
    bool good = length > 0 && at + length <= words.size() && first >= 0x20 &&
        first != 0x7F;
    for (std::size_t i = 1; good && i < length; ++i)
      good = (static_cast<unsigned char>(words[at + i]) & 0xC0) == 0x80;
    all.push_back(good ? words.substr(at, length) : kReplacement);
    at += good ? length : 1;
  }
  return all;
}

std::string printable(const std::string& words) {
  return join(characters(words), "");
}

void choose(cairo_t* context, const TextStyle& style) {
  cairo_select_font_face(
      context,
      "sans-serif",
      CAIRO_FONT_SLANT_NORMAL,
      style.bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
  cairo_set_font_size(context, style.size);
}

void ink(cairo_t* context, const Colour& colour) {
  cairo_set_source_rgb(context, colour.red, colour.green, colour.blue);
}

void draw_onto(cairo_surface_t* surface, const Drawing& drawing, double scale) {
  require(cairo_surface_status(surface));
  const Context context(cairo_create(surface));
  cairo_set_source_rgb(context.get(), 1, 1, 1);
  cairo_paint(context.get());
  cairo_scale(context.get(), scale, scale);
  Canvas canvas(context.get());
  drawing.draw(canvas);
  require(cairo_status(context.get()));
}

} // namespace

void Canvas::fill(const Box& box, const Colour& colour) {
  ink(cairo(context_), colour);
  cairo_rectangle(cairo(context_), box.left, box.top, box.width, box.height);
  cairo_fill(cairo(context_));
}

void Canvas::line(const std::vector<Point>& points, const LineStyle& style) {
  cairo_t* context = cairo(context_);
  ink(context, style.colour);
  cairo_set_line_width(context, style.width);
  cairo_set_line_join(context, CAIRO_LINE_JOIN_ROUND);
  const double dashes[] = {4 * style.width, 3 * style.width};
  cairo_set_dash(context, dashes, style.dashed ? 2 : 0, 0);
  cairo_new_path(context);
  bool down = false;
  for (const Point& point : points) {
    const bool there = std::isfinite(point.x) && std::isfinite(point.y);
    if (there && down) cairo_line_to(context, point.x, point.y);
    if (there && !down) cairo_move_to(context, point.x, point.y);
    down = there;
  }
  cairo_stroke(context);
}

void Canvas::dot(const Point& centre, double radius, const Colour& colour) {
  cairo_t* context = cairo(context_);
  ink(context, colour);
  cairo_new_path(context);
  cairo_arc(context, centre.x, centre.y, radius, 0, 2 * std::numbers::pi);
  cairo_fill(context);
}

void Canvas::text(
    const Point& at,
    const std::string& words,
    const TextStyle& style) {
  cairo_t* context = cairo(context_);
  const std::string shown = printable(words);
  const double width = width_of(shown, style);
  cairo_save(context);
  choose(context, style);
  ink(context, style.colour);
  cairo_translate(context, at.x, at.y);
  cairo_rotate(context, style.degrees * std::numbers::pi / 180);
  double begin = 0;
  if (style.align == Align::centre) begin = -width / 2;
  if (style.align == Align::right) begin = -width;
  cairo_move_to(context, begin, 0);
  cairo_show_text(context, shown.c_str());
  cairo_restore(context);
}

double Canvas::width_of(const std::string& words, const TextStyle& style) {
  choose(cairo(context_), style);
  cairo_text_extents_t extents{};
  cairo_text_extents(cairo(context_), printable(words).c_str(), &extents);
  return extents.x_advance;
}

std::string Canvas::fitting(
    const std::string& words,
    double width,
    const TextStyle& style) {
  if (width_of(words, style) <= width) return words;
  std::vector<std::string> shown = characters(words);
  while (!shown.empty()) {
    shown.pop_back();
    const std::string shorter = cat(join(shown, ""), kEllipsis);
    if (width_of(shorter, style) <= width) return shorter;
  }
  return "";
}

void Canvas::picture(
    const Box& box,
    const std::uint8_t* rgb,
    int width,
    int height) {
  const Surface surface(
      cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height));
  require(cairo_surface_status(surface.get()));
  unsigned char* pixels = cairo_image_surface_get_data(surface.get());
  const int stride = cairo_image_surface_get_stride(surface.get());
  for (int y = 0; y < height; ++y) {
    auto* row = reinterpret_cast<std::uint32_t*>(
        pixels + static_cast<std::ptrdiff_t>(y) * stride);
    for (int x = 0; x < width; ++x, rgb += 3)
      row[x] = static_cast<std::uint32_t>(rgb[0]) << 16 |
          static_cast<std::uint32_t>(rgb[1]) << 8 | rgb[2];
  }
  cairo_surface_mark_dirty(surface.get());
  cairo_t* context = cairo(context_);
  cairo_save(context);
  cairo_translate(context, box.left, box.top);
  cairo_scale(context, box.width / width, box.height / height);
  cairo_set_source_surface(context, surface.get(), 0, 0);
  double across = 1;
  double down = 0;
  cairo_user_to_device_distance(context, &across, &down);
  cairo_pattern_set_filter(
      cairo_get_source(context),
      across >= 1 ? CAIRO_FILTER_NEAREST : CAIRO_FILTER_GOOD);
  cairo_paint(context);
  cairo_restore(context);
}

std::string as_svg(const Drawing& drawing) {
  std::string file;
  const Surface surface(cairo_svg_surface_create_for_stream(
      append, &file, drawing.width, drawing.height));
  draw_onto(surface.get(), drawing, 1);
  cairo_surface_finish(surface.get());
  require(cairo_surface_status(surface.get()));
  return file;
}

std::string as_png(const Drawing& drawing, double scale) {
  const Surface surface(cairo_image_surface_create(
      CAIRO_FORMAT_RGB24,
      static_cast<int>(std::ceil(drawing.width * scale)),
      static_cast<int>(std::ceil(drawing.height * scale))));
  draw_onto(surface.get(), drawing, scale);
  std::string file;
  require(cairo_surface_write_to_png_stream(surface.get(), append, &file));
  return file;
}

} // namespace temper::plot
