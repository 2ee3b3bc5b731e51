#include "temper/data/codec/png_file.h"

#include <png.h>

#include <exception>
#include <string>

#include "temper/base/error.h"
#include "temper/base/file/atomic_file.h"
#include "temper/base/text.h"

namespace temper::data {
namespace {

// libpng leaves by longjmp, which must not pass over anything of ours that has
// a destructor: the only frames between are its own and this callback's.
void on_error(png_structp png, png_const_charp message) {
  auto* why = static_cast<std::string*>(png_get_error_ptr(png));
  if (why->empty()) *why = message;
  png_longjmp(png, 1);
}

void on_warning(png_structp, png_const_charp) {}

void on_bytes(png_structp png, png_bytep data, std::size_t bytes) {
  auto* out = static_cast<std::string*>(png_get_io_ptr(png));
  out->append(reinterpret_cast<const char*>(data), bytes);
}

void on_flush(png_structp) {}

// Plain values only: see on_error.
bool encode(png_structp png, png_infop info, const Image& image) {
  if (setjmp(png_jmpbuf(png)) != 0) return false;
  png_set_IHDR(
      png,
      info,
      static_cast<png_uint_32>(image.width()),
      static_cast<png_uint_32>(image.height()),
      8,
      image.channels() == 1 ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB,
      PNG_INTERLACE_NONE,
      PNG_COMPRESSION_TYPE_DEFAULT,
      PNG_FILTER_TYPE_DEFAULT);
  png_write_info(png, info);
  for (int y = 0; y < image.height(); ++y)
    png_write_row(png, image.row(y));
  png_write_end(png, info);
  return true;
}

} // namespace

void write_png(const std::filesystem::path& path, const Image& image) {
  std::string why;
  std::string bytes;
  png_structp png = png_create_write_struct(
      PNG_LIBPNG_VER_STRING, &why, on_error, on_warning);
  png_infop info = png == nullptr ? nullptr : png_create_info_struct(png);
  bool done = false;
  if (info != nullptr) {
    png_set_write_fn(png, &bytes, on_bytes, on_flush);
    done = encode(png, info, image);
  }
  png_destroy_write_struct(&png, &info);
  if (!done)
    throw Error(cat("[data] cannot make a PNG of the image: ", why, "."));
  write_file_atomically(path, bytes);
}

} // namespace temper::data
