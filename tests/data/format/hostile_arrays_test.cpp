// Thousands of damaged files, the same ones in every run: what parses bytes
// gives a value or an Error, nothing else.
#include <gtest/gtest.h>

#include <functional>

#include "temper/base/log.h"
#include "temper/base/random/philox.h"
#include "temper/data/codec/decode.h"
#include "temper/data/format/idx.h"
#include "temper/data/format/npy.h"
#include "temper/data/format/utf8.h"
#include "temper/data/source/csv_scan.h"
#include "temper/data/source/synthetic_source.h"
#include "tests/data/format_bytes.h"

namespace temper::data {
namespace {

// Some bytes changed, a piece taken out or doubled, the end cut.
std::string damaged(const std::string& file, RandomStream& random) {
  std::string bytes = file;
  const auto place = [&] {
    return random.below(static_cast<std::uint32_t>(bytes.size()) + 1);
  };
  for (std::uint32_t i = random.below(4); i > 0 && !bytes.empty(); --i)
    bytes[place() % bytes.size()] = static_cast<char>(random.below(256));
  if (random.below(4) == 0) bytes.erase(place(), random.below(8));
  if (random.below(4) == 0) bytes.insert(place(), bytes.substr(place(), 8));
  if (random.below(4) == 0) bytes.resize(place());
  return bytes;
}

void try_damaged(
    const std::string& file,
    const std::function<void(Bytes)>& parse) {
  auto before = log::set_sink([](log::Level, const std::string&) {});
  int refused = 0;
  for (std::uint64_t i = 0; i < 3000; ++i) {
    RandomStream random(7, 0, i);
    const std::string bytes = damaged(file, random);
    // A block of its own, so that a sanitizer sees a step over its end.
    const std::vector<std::uint8_t> exact(bytes.begin(), bytes.end());
    try {
      parse(exact);
    } catch (const Error&) {
      ++refused;
    }
  }
  log::set_sink(before);
  EXPECT_GT(refused, 0);
}

TEST(HostileArrays, Idx) {
  const std::string file =
      byte(0) + byte(0) + byte(8) + byte(2) + big_endian32(3) + big_endian32(5);
  try_damaged(file, [](Bytes bytes) {
    const IdxHeader header = parse_idx_header(bytes, "x");
    EXPECT_LE(header.header_bytes, bytes.size());
  });
}

TEST(HostileArrays, Npy) {
  const std::string header =
      "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }\n";
  const std::string file = "\x93NUMPY" + byte(1) + byte(0) +
      byte(static_cast<int>(header.size())) + byte(0) + header +
      std::string(24, 'x');
  try_damaged(file, [](Bytes bytes) {
    const NpyArray array = parse_npy(bytes, nullptr, "x");
    std::vector<std::uint8_t> scratch;
    if (array.header.shape.empty() || array.header.items() == 0) return;
    for (std::int64_t i = 0; i < array.header.shape[0]; ++i) {
      const auto row = npy_row(array, i, scratch);
      std::vector<float> numbers(
          static_cast<std::size_t>(array.header.row_items()));
      npy_to_floats(array.header, row, numbers.data());
    }
  });
}

TEST(HostileArrays, Csv) {
  const std::string file =
      "a,b,\"c\"\"d\"\r\n1,\"x\ny\",2\n-1.5e3,NA,3\n7,\"\"\"\",1e300\n";
  try_damaged(file, [](Bytes bytes) {
    const std::string_view text(
        reinterpret_cast<const char*>(bytes.data()), bytes.size());
    std::string recoded;
    scan_csv(csv_text(text, "x", recoded), "x", OpenOptions());
  });
}

TEST(HostileArrays, Text) {
  try_damaged("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z", [](Bytes bytes) {
    for (std::size_t at = 0; at < bytes.size();)
      if (!next_code_point(bytes, at)) throw Error("not UTF-8");
  });
}

TEST(HostileArrays, SyntheticSpec) {
  try_damaged("rows=1000,features=20,targets=1,seed=5", [](Bytes bytes) {
    parse_synthetic(
        {reinterpret_cast<const char*>(bytes.data()), bytes.size()}, 128);
  });
}

} // namespace
} // namespace temper::data
