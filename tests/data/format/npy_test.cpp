#include "temper/data/format/npy.h"

#include <gmock/gmock.h>

#include <cmath>
#include <fstream>
#include <numeric>

#include "npy_file.h"
#include "temper/data/format/npz.h"
#include "tests/complaint.h"
#include "tests/data/format_bytes.h"
#include "tests/paths.h"
#include "tests/temp_folder.h"

namespace temper::data {
namespace {

using testing::HasSubstr;
using tests::complaint;
using tests::TempFolder;

std::string npy_with_header(
    const std::string& header,
    const std::string& data = "") {
  std::string file = "\x93NUMPY" + byte(1) + byte(0);
  file += static_cast<char>(header.size() & 255);
  file += static_cast<char>(header.size() >> 8);
  return file + header + data;
}

NpyHeader parse(const std::string& file) {
  return parse_npy_header(
      {reinterpret_cast<const std::uint8_t*>(file.data()), file.size()}, "x");
}

NpyHeader parse_dict(const std::string& header) {
  return parse(npy_with_header(header));
}

// All of an array, row by row, as floats.
std::vector<float> floats(const NpyArray& array) {
  std::vector<float> all(static_cast<std::size_t>(array.header.items()));
  std::vector<std::uint8_t> scratch;
  const auto row = static_cast<std::size_t>(array.header.row_items());
  for (std::int64_t i = 0; i < array.header.shape[0]; ++i)
    npy_to_floats(
        array.header,
        npy_row(array, i, scratch),
        all.data() + static_cast<std::size_t>(i) * row);
  return all;
}

TEST(Npy, WhatNumpyWritesComesBackInEveryTypeOrderAndVersion) {
  std::vector<float> counting(24);
  std::iota(counting.begin(), counting.end(), 0.0F);
  for (const char* name :
       {"u1",        "i1",        "little_u2", "little_i2", "big_i2",
        "little_u4", "little_i4", "big_u4",    "little_i8", "little_u8",
        "big_i8",    "little_f2", "big_f2",    "little_f4", "big_f4",
        "little_f8", "big_f8",    "fortran",   "version_2", "version_3"}) {
    const NpyArray array = map_npy(array_fixture(std::string(name) + ".npy"));
    EXPECT_EQ(array.header.shape, (std::vector<std::int64_t>{2, 3, 4}));
    EXPECT_EQ(floats(array), counting) << name;
    if (!array.header.is_integer()) continue;
    for (std::int64_t i = 0; i < 24; ++i)
      EXPECT_EQ(
          npy_integer(
              array.header, array.data.data() + i * array.header.item_bytes),
          i)
          << name;
  }
  for (std::size_t i = 0; i < 24; ++i)
    counting[i] = i % 2 == 1 ? 1.0F : 0.0F;
  EXPECT_EQ(floats(map_npy(array_fixture("b1.npy"))), counting);
}

TEST(Npy, HalvesKeepSignsSubnormalsAndInfinity) {
  const auto halves = floats(map_npy(array_fixture("negative_halves.npy")));
  EXPECT_EQ(
      halves,
      (std::vector<float>{
          0.0F,
          -0.5F,
          65504.0F,
          std::ldexp(1.0F, -24),
          INFINITY,
          0.333251953125F}));
}

TEST(Npy, NegativeIntegersStayNegative) {
  const NpyHeader header =
      parse_dict("{'descr': '>i2', 'fortran_order': False, 'shape': (1,), }");
  const std::uint8_t minus_two[2] = {0xff, 0xfe};
  EXPECT_EQ(npy_integer(header, minus_two), -2);
  float value = 0;
  npy_to_floats(header, minus_two, &value);
  EXPECT_EQ(value, -2.0F);
}

TEST(Npy, ObjectsRecordsAndTextAreRefusedWithTheReason) {
  EXPECT_THAT(
      complaint([] { map_npy(array_fixture("objects.npy")); }),
      HasSubstr("pickle"));
  EXPECT_THAT(
      complaint([] { map_npy(array_fixture("records.npy")); }),
      HasSubstr("fields"));
  EXPECT_THAT(
      complaint([] { map_npy(array_fixture("text.npy")); }), HasSubstr("text"));
}

TEST(Npy, TheHeaderIsReadStrictly) {
  const NpyHeader good = parse_dict(
      "{\"shape\": (3L, 2), 'fortran_order': True, 'descr': '|u1'}   \n");
  EXPECT_TRUE(good.fortran_order);
  EXPECT_EQ(good.shape, (std::vector<std::int64_t>{3, 2}));
  EXPECT_EQ(good.data_bytes, 6U);
  EXPECT_TRUE(parse_dict("{'descr':'<f4','fortran_order':False,'shape':()}")
                  .shape.empty());
  for (const char* header :
       {"",
        "{}",
        "{'descr': '<f4', 'fortran_order': False}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (3)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-3,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (3,",
        "{'descr': '<f4', 'fortran_order': 0, 'shape': (3,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (3,)} x",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, "
        "'shape': (3,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), 'a': 1}",
        "{'descr': '<f3', 'fortran_order': False, 'shape': (3,)}",
        "{'descr': '<f16', 'fortran_order': False, 'shape': (3,)}",
        "{'descr': '<c8', 'fortran_order': False, 'shape': (3,)}",
        "{'descr': '', 'fortran_order': False, 'shape': (3,)}",
        "{'descr': '<', 'fortran_order': False, 'shape': (3,)}",
        "{'descr': '|f4', 'fortran_order': False, 'shape': (3,)}",
        "{'descr': '<f4', 'fortran_order': False, "
        "'shape': (4294967296, 4294967296)}",
        "{'descr': '<f4', 'fortran_order': False, "
        "'shape': (0, 4294967296, 4294967296)}",
        "{'descr': '<f4', 'fortran_order': False, "
        "'shape': (99999999999999999999,)}"})
    EXPECT_THROW(parse_dict(header), Error) << header;
}

TEST(Npy, ACutFileIsAnErrorAtEveryLength) {
  const std::string whole = npy_with_header(
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n",
      "12345678");
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const std::string cut = whole.substr(0, length);
    EXPECT_THROW(
        parse_npy(
            {reinterpret_cast<const std::uint8_t*>(cut.data()), cut.size()},
            nullptr,
            "x"),
        Error)
        << length;
  }
}

TEST(Npz, StoredAndDeflatedMembersAreRead) {
  EXPECT_EQ(
      npz_names(array_fixture("stored.npz")),
      (std::vector<std::string>{"images", "labels"}));
  const NpyArray labels = read_npz(array_fixture("stored.npz"), "labels");
  EXPECT_EQ(floats(labels), (std::vector<float>{2, 0, 1, 2}));
  const NpyArray rows = read_npz(array_fixture("deflated.npz"), "X_train");
  EXPECT_EQ(floats(rows)[49 * 40], 49.0F);
  EXPECT_THAT(
      complaint([] { read_npz(array_fixture("stored.npz"), "weights"); }),
      HasSubstr("no array weights"));
}

TEST(Npz, WhatIsNotAZipOrIsDamagedIsAnError) {
  const TempFolder folder;
  const auto path = folder.write("a.npz", "not a zip archive at all");
  EXPECT_THROW(npz_names(path), Error);
  EXPECT_THROW(npz_names(folder.path() / "missing.npz"), Error);
  std::ifstream in(array_fixture("stored.npz"), std::ios::binary);
  std::string damaged(std::istreambuf_iterator<char>(in), {});
  damaged[200] ^= 0x55; // in the numbers: the checksum tells
  folder.write("a.npz", damaged);
  EXPECT_THROW(read_npz(path, "images"), Error);
}

TEST(Npz, AnAnnouncedSizeMustBeBelievable) {
  const TempFolder folder;
  std::ifstream in(array_fixture("stored.npz"), std::ios::binary);
  std::string bomb(std::istreambuf_iterator<char>(in), {});
  // The uncompressed size in the central directory, of every member.
  for (auto at = bomb.find("PK\x01\x02"); at != std::string::npos;
       at = bomb.find("PK\x01\x02", at + 1))
    bomb.replace(at + 24, 4, std::string("\xf0\xff\xff\x7f", 4));
  const auto path = folder.write("a.npz", bomb);
  EXPECT_THAT(
      complaint([&] { read_npz(path, "images"); }), HasSubstr("can unpack to"));
}

} // namespace
} // namespace temper::data
