#include "temper/data/format/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <limits>

#include "temper/base/error.h"
#include "temper/base/text.h"

namespace temper::data {

struct GzipReader::Stream {
  z_stream state{};
  std::span<const std::uint8_t> rest; // not yet given to zlib
  std::string name;
  bool ended = false;
};

bool is_gzip(std::span<const std::uint8_t> file) {
  return file.size() >= 2 && file[0] == 0x1f && file[1] == 0x8b;
}

GzipReader::GzipReader(std::span<const std::uint8_t> file, std::string name)
    : stream_(std::make_unique<Stream>()) {
  stream_->rest = file;
  stream_->name = std::move(name);
  constexpr int kGzipOnly = 16; // added to the window bits
  if (inflateInit2(&stream_->state, MAX_WBITS + kGzipOnly) != Z_OK)
    throw Error("[data] zlib cannot start: out of memory.");
}

GzipReader::~GzipReader() {
  inflateEnd(&stream_->state);
}

std::size_t GzipReader::read(void* out, std::size_t bytes) {
  z_stream& state = stream_->state;
  // zlib counts in 32 bits.
  constexpr std::size_t kMost = std::numeric_limits<uInt>::max();
  std::size_t done = 0;
  while (done < bytes && !stream_->ended) {
    if (state.avail_in == 0) {
      const std::size_t piece = std::min(stream_->rest.size(), kMost);
      state.next_in = const_cast<Bytef*>(stream_->rest.data());
      state.avail_in = static_cast<uInt>(piece);
      stream_->rest = stream_->rest.subspan(piece);
    }
    const std::size_t wanted = std::min(bytes - done, kMost);
    state.next_out = static_cast<Bytef*>(out) + done;
    state.avail_out = static_cast<uInt>(wanted);
    const int result = inflate(&state, Z_NO_FLUSH);
    done += wanted - state.avail_out;
    if (result == Z_STREAM_END) {
      // A gzip file may be several members, one after the other.
      const bool more = state.avail_in > 1 && is_gzip({state.next_in, 2});
      if (!more || inflateReset(&state) != Z_OK) stream_->ended = true;
      continue;
    }
    if (result == Z_OK) continue;
    throw Error(
        cat("[data] cannot unpack ",
            stream_->name,
            ": ",
            result == Z_BUF_ERROR      ? "it is cut short"
                : state.msg != nullptr ? state.msg
                                       : "it is damaged",
            "."),
        "Fetch the file again.");
  }
  return done;
}

} // namespace temper::data
