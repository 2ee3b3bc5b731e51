// One HTTP request whose body is appended to a file. The lower half of
// download.cpp, which decides what to do when it fails.
// Private to data/fetch.
#pragma once

#include <cstdint>
#include <string>

#include "temper/data/fetch/download.h"

namespace temper::data {

struct Transfer {
  enum class End {
    whole,
    try_again, // the network's or the server's passing trouble
    hopeless, // this address will not give it: 404, endless redirects
    too_large,
    disk, // the file does not take it
  };
  End end = End::try_again;
  std::string why; // for everything but whole: "the server said 404"
  std::uint64_t size = 0; // of the file afterwards
};

// Asks for what is behind the first `offset` bytes of the open file; begins at
// the front when the server answers with something else than just that.
Transfer transfer(
    const std::string& url,
    int descriptor,
    std::uint64_t offset,
    std::uint64_t limit_bytes,
    const DownloadOptions& options);

} // namespace temper::data
