// The members of a tar archive: ustar, pax and GNU. Walks the headers and reads
// no contents but long names. Used by tar_source.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "temper/data/codec/decode.h"

namespace temper::data {

struct TarMember {
  std::string name;
  std::uint64_t offset = 0; // of its contents
  std::uint64_t bytes = 0; // within the archive: checked
};

// Regular files only, in their order. Error, with the bare reason, when a
// header is damaged or a member does not fit into the archive.
std::vector<TarMember> read_tar_index(Bytes tar);

} // namespace temper::data
