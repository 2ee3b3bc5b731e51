// The contents of a gzip file, taken in pieces of known size: whoever reads
// decides how much there may be, so that a small file cannot become a large
// allocation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace temper::data {

// No deflate stream expands more than this.
constexpr std::uint64_t kDeflateLimit = 1032;

bool is_gzip(std::span<const std::uint8_t> file);

class GzipReader {
 public:
  // `name` is for messages; `file` stays where it is while this reads.
  GzipReader(std::span<const std::uint8_t> file, std::string name);
  ~GzipReader();
  GzipReader(const GzipReader&) = delete;
  GzipReader& operator=(const GzipReader&) = delete;

  // Fewer than `bytes` only at the end. Error when the stream is damaged.
  std::size_t read(void* out, std::size_t bytes);

 private:
  struct Stream;
  std::unique_ptr<Stream> stream_;
};

} // namespace temper::data
