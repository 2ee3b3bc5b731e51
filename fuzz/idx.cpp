// IDX files, plain and in gzip.
#include "temper/data/format/idx.h"

#include <zlib.h>

#include "input_file.h"
#include "target.h"
#include "temper/base/error.h"

namespace {

std::string gzip(std::string text) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(text.data());
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string images(std::uint32_t count) {
  using temper::fuzz::big_endian;
  return std::string("\0\0\x08\x03", 4) + big_endian(count) +
      big_endian<std::uint32_t>(4) + big_endian<std::uint32_t>(4) +
      std::string(16 * count, 'i');
}

std::string labels(std::uint32_t count) {
  return std::string("\0\0\x08\x01", 4) + temper::fuzz::big_endian(count) +
      std::string(count, '\1');
}

} // namespace

std::vector<std::string> temper::fuzz::seeds() {
  return {images(3), labels(7), gzip(images(5)), gzip(labels(9))};
}

extern "C" int LLVMFuzzerTestOneInput(
    const std::uint8_t* data,
    std::size_t size) {
  try {
    temper::data::parse_idx_header({data, size}, "input");
  } catch (const temper::Error&) {
  }
  static temper::fuzz::InputFile plain("");
  static temper::fuzz::InputFile packed(".gz");
  for (auto* file : {&plain, &packed})
    try {
      const auto array = temper::data::read_idx(file->write(data, size));
      volatile std::uint8_t last = 0;
      if (!array.data.empty()) last = array.data.back();
      static_cast<void>(last);
    } catch (const temper::Error&) {
    }
  return 0;
}
