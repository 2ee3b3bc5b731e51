// Packed datasets. The hashes over header, description and table stop nearly
// every mutant at the door, so that half of the inputs get right ones again:
// what is behind the door must hold, too.
#include "temper/data/pack/pack.h"

#include <cstring>
#include <fstream>
#include <sstream>

#include "input_file.h"
#include "target.h"
#include "temper/base/digest/hash.h"

namespace {

using namespace temper::data;

// Two small images of one class.
class Pair : public IndexedSource {
 public:
  Pair() {
    info_.name = "pair";
    info_.channels = 3;
    info_.classes = {"thing"};
  }
  const SourceInfo& info() const override {
    return info_;
  }
  std::int64_t size() const override {
    return 2;
  }
  void read(std::int64_t index, Sample& sample) const override {
    sample.image.reshape(3 + static_cast<int>(index), 2, 3);
    std::memset(sample.image.pixels(), 'p', sample.image.bytes());
    sample.label = 0;
  }
  std::uint64_t fingerprint() const override {
    return 7;
  }

 private:
  SourceInfo info_;
};

void mend(std::string& pack) {
  PackHeader header;
  if (pack.size() < sizeof header) return;
  std::memcpy(&header, pack.data(), sizeof header);
  const std::uint64_t size = pack.size();
  if (header.about_bytes <= size - sizeof header)
    header.about_hash =
        temper::hash64(pack.data() + sizeof header, header.about_bytes);
  PackTrailer trailer;
  if (header.trailer_offset <= size &&
      size - header.trailer_offset >= sizeof trailer &&
      header.table_offset <= size &&
      header.records <= (size - header.table_offset) / sizeof(PackRecord)) {
    trailer.table_hash = temper::hash64(
        pack.data() + header.table_offset, header.records * sizeof(PackRecord));
    std::memcpy(pack.data() + header.trailer_offset, &trailer, sizeof trailer);
  }
  header.header_hash =
      temper::hash64(&header, offsetof(PackHeader, header_hash));
  std::memcpy(pack.data(), &header, sizeof header);
}

void read_all(const std::filesystem::path& path) {
  try {
    const auto splits = open_pack(path, {});
    Sample sample;
    for (const auto* part : {splits.train.get(), splits.val.get()})
      for (std::int64_t i = 0; part != nullptr && i < part->size(); ++i)
        try {
          part->label(i);
          part->read(i, sample);
        } catch (const BadSample&) {
        }
  } catch (const temper::Error&) {
  }
}

} // namespace

std::vector<std::string> temper::fuzz::seeds() {
  InputFile file(".seed");
  const auto path = file.write("", 0);
  const auto pair = std::make_shared<Pair>();
  std::vector<std::string> packs;
  for (const auto& splits : {Splits{pair, nullptr}, Splits{pair, pair}}) {
    write_pack(splits, path);
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    packs.push_back(text.str());
  }
  return packs;
}

extern "C" int LLVMFuzzerTestOneInput(
    const std::uint8_t* data,
    std::size_t size) {
  static temper::fuzz::InputFile file(".tpk");
  read_all(file.write(data, size));
  std::string mended(reinterpret_cast<const char*>(data), size);
  mend(mended);
  read_all(file.write(mended.data(), mended.size()));
  return 0;
}
