// WebDataset shards: the walk over a tar's headers, and what is in them.
#include "temper/data/source/tar_source.h"

#include <cstdio>

#include "input_file.h"
#include "target.h"
#include "temper/data/format/tar_index.h"

namespace {

std::string entry(const std::string& name, const std::string& data, char kind) {
  std::string block(512, '\0');
  block.replace(0, name.size(), name);
  char number[32];
  std::snprintf(number, sizeof number, "%011zo", data.size());
  block.replace(124, 11, number);
  block[156] = kind;
  block.replace(257, 8, std::string("ustar\00000", 8));
  block.replace(148, 8, 8, ' ');
  unsigned sum = 0;
  for (const char c : block)
    sum += static_cast<unsigned char>(c);
  std::snprintf(number, sizeof number, "%06o", sum);
  block.replace(148, 7, number, 7);
  return block + data + std::string((512 - data.size() % 512) % 512, '\0');
}

} // namespace

std::vector<std::string> temper::fuzz::seeds() {
  const std::string image = "P6 2 2 255\n" + std::string(12, 'p');
  const std::string end(1024, '\0');
  return {
      entry("a.ppm", image, '0') + entry("a.cls", "1", '0') +
          entry("b.ppm", image, '0') + entry("b.cls", "0", '0') + end,
      entry("d/", "", '5') + entry("d/a.ppm", image, '0') +
          entry("d/a.json", "{\"label\": 3}", '0') + end,
      entry("././@LongLink", std::string(150, 'n') + ".ppm", 'L') +
          entry("n", image, '0') + end,
      entry("pax", "22 path=long/name.ppm\n", 'x') + entry("n", image, '0') +
          entry("long/name.txt", "2", '0') + end};
}

extern "C" int LLVMFuzzerTestOneInput(
    const std::uint8_t* data,
    std::size_t size) {
  using namespace temper::data;
  try {
    for (const auto& member : read_tar_index({data, size}))
      if (member.offset > size || member.bytes > size - member.offset)
        __builtin_trap();
  } catch (const temper::Error&) {
  }
  static temper::fuzz::InputFile file(".tar");
  try {
    auto index = index_shards(tar_format(), {file.write(data, size).string()});
    auto info = describe_shards("tar:input", index, {});
    const ShardSource source(tar_format(), std::move(index), std::move(info));
    Sample sample;
    for (std::int64_t i = 0; i < source.size(); ++i)
      try {
        source.read(i, sample);
      } catch (const BadSample&) {
      }
  } catch (const temper::Error&) {
  }
  return 0;
}
