// Pillow has three ways through an affine transform without interpolation, and
// which one is taken shows in the pixels: axis-parallel ones add up positions
// in double, the others in 16.16 fixed point, and those of huge images in
// double again.
#include "temper/data/transform/affine.h"

#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "temper/base/text.h"

namespace temper::data {
namespace {

constexpr double kPi = 3.14159265358979323846;

// Multiplies as Python's math module does.
double radians(double degrees) {
  return degrees * (kPi / 180);
}

double degrees_of(double angle) {
  return angle * (180 / kPi);
}

void copy_pixel(const std::uint8_t* from, std::uint8_t* to, int channels) {
  to[0] = from[0];
  if (channels == 3) {
    to[1] = from[1];
    to[2] = from[2];
  }
}

// `position(x, y)` gives the pixel of `in` at a place of `out`, or nullptr.
template <class Position>
void fill_from(const Image& in, Image& out, const Position& position) {
  out.reshape(in.width(), in.height(), in.channels());
  std::memset(out.pixels(), 0, out.bytes());
  std::uint8_t* to = out.pixels();
  for (int y = 0; y < out.height(); ++y) {
    for (int x = 0; x < out.width(); ++x, to += in.channels()) {
      const std::uint8_t* from = position(x, y);
      if (from != nullptr) copy_pixel(from, to, in.channels());
    }
  }
}

const std::uint8_t* pixel(const Image& in, std::int64_t x, std::int64_t y) {
  if (x < 0 || x >= in.width() || y < 0 || y >= in.height()) return nullptr;
  return in.row(static_cast<int>(y)) + x * in.channels();
}

std::int64_t fixed_point(double value) {
  return static_cast<std::int64_t>(std::floor(value * 65536.0 + 0.5));
}

std::int64_t whole(double value) {
  return value < 0.0 ? -1 : static_cast<std::int64_t>(value);
}

bool fits_fixed_point(const Image& image, const AffineMatrix& m) {
  for (const double x : {0.0, static_cast<double>(image.width())}) {
    for (const double y : {0.0, static_cast<double>(image.height())}) {
      if (std::fabs(x * m[0] + y * m[1] + m[2]) >= 32768.0) return false;
      if (std::fabs(x * m[3] + y * m[4] + m[5]) >= 32768.0) return false;
    }
  }
  return true;
}

void along_axes(const Image& in, Image& out, const AffineMatrix& m) {
  std::vector<std::int64_t> columns;
  double at = m[2] + m[0] * 0.5;
  for (int x = 0; x < in.width(); ++x, at += m[0]) {
    columns.push_back(whole(at));
  }
  double down = m[5] + m[4] * 0.5;
  int row = 0;
  fill_from(in, out, [&](int x, int y) {
    for (; row < y; ++row) {
      down += m[4];
    }
    return pixel(in, columns[static_cast<std::size_t>(x)], whole(down));
  });
}

void in_fixed_point(const Image& in, Image& out, const AffineMatrix& m) {
  const std::int64_t a = fixed_point(m[0]), b = fixed_point(m[1]);
  const std::int64_t d = fixed_point(m[3]), e = fixed_point(m[4]);
  const std::int64_t c = fixed_point(m[2] + m[0] * 0.5 + m[1] * 0.5);
  const std::int64_t f = fixed_point(m[5] + m[3] * 0.5 + m[4] * 0.5);
  fill_from(in, out, [&](int x, int y) {
    return pixel(in, (c + b * y + a * x) >> 16, (f + e * y + d * x) >> 16);
  });
}

void in_double(const Image& in, Image& out, const AffineMatrix& m) {
  double row_x = m[2] + m[1] * 0.5 + m[0] * 0.5;
  double row_y = m[5] + m[4] * 0.5 + m[3] * 0.5;
  double at_x = row_x;
  double at_y = row_y;
  fill_from(in, out, [&](int x, int y) {
    if (x == 0 && y > 0) {
      at_x = row_x += m[1];
      at_y = row_y += m[4];
    } else if (x > 0) {
      at_x += m[0];
      at_y += m[3];
    }
    return pixel(in, whole(at_x), whole(at_y));
  });
}

// torchvision's inverse of: turn by 0, shear, shift, all about a centre.
AffineMatrix inverse_matrix(
    double centre_x,
    double centre_y,
    double right,
    double down,
    double shear_x_degrees,
    double shear_y_degrees) {
  const double sx = radians(shear_x_degrees);
  const double sy = radians(shear_y_degrees);
  const double a = std::cos(-sy) / std::cos(sy);
  const double b = -std::cos(-sy) * std::tan(sx) / std::cos(sy);
  const double c = std::sin(-sy) / std::cos(sy);
  const double d = -std::sin(-sy) * std::tan(sx) / std::cos(sy) + 1.0;
  AffineMatrix m{d, -b, 0.0, -c, a, 0.0};
  m[2] += m[0] * (-centre_x - right) + m[1] * (-centre_y - down);
  m[5] += m[3] * (-centre_x - right) + m[4] * (-centre_y - down);
  m[2] += centre_x;
  m[5] += centre_y;
  return m;
}

// Python's round(x, 15).
double rounded_15(double x) {
  return parse_double(decimals(x, 15)).value_or(x);
}

// A quarter turn of a square image, or half a turn of any.
void turn_exactly(Image& image, Image& spare, int degrees) {
  const int w = image.width() - 1;
  const int h = image.height() - 1;
  fill_from(image, spare, [&](int x, int y) {
    if (degrees == 90) return pixel(image, w - y, x);
    if (degrees == 180) return pixel(image, w - x, h - y);
    return pixel(image, y, h - x);
  });
  std::swap(image, spare);
}

} // namespace

void transform_affine(Image& image, Image& spare, const AffineMatrix& matrix) {
  if (matrix[1] == 0 && matrix[3] == 0) {
    along_axes(image, spare, matrix);
  } else if (fits_fixed_point(image, matrix)) {
    in_fixed_point(image, spare, matrix);
  } else {
    in_double(image, spare, matrix);
  }
  std::swap(image, spare);
}

void shear_x(Image& image, Image& spare, double level) {
  const double angle = degrees_of(std::atan(level));
  transform_affine(image, spare, inverse_matrix(0, 0, 0, 0, angle, 0));
}

void shear_y(Image& image, Image& spare, double level) {
  const double angle = degrees_of(std::atan(level));
  transform_affine(image, spare, inverse_matrix(0, 0, 0, 0, 0, angle));
}

void translate(Image& image, Image& spare, int right, int down) {
  const double x = image.width() * 0.5;
  const double y = image.height() * 0.5;
  transform_affine(image, spare, inverse_matrix(x, y, right, down, 0, 0));
}

void rotate(Image& image, Image& spare, double degrees) {
  double turn = std::fmod(degrees, 360.0);
  if (turn < 0) turn += 360.0;
  if (turn == 0) return;
  const bool square = image.width() == image.height();
  if (turn == 180 || (square && (turn == 90 || turn == 270))) {
    turn_exactly(image, spare, static_cast<int>(turn));
    return;
  }
  const double angle = -radians(turn);
  AffineMatrix m{
      rounded_15(std::cos(angle)),
      rounded_15(std::sin(angle)),
      0.0,
      rounded_15(-std::sin(angle)),
      rounded_15(std::cos(angle)),
      0.0};
  const double x = image.width() / 2.0;
  const double y = image.height() / 2.0;
  m[2] = m[0] * -x + m[1] * -y + x;
  m[5] = m[3] * -x + m[4] * -y + y;
  transform_affine(image, spare, m);
}

} // namespace temper::data
