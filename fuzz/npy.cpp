// NumPy's arrays, single and in archives.
#include "temper/data/npy.h"

#include "input_file.h"
#include "target.h"
#include "temper/base/error.h"
#include "temper/data/npy_source.h"
#include "temper/data/npz.h"

namespace {

std::string npy(
    const std::string& type,
    bool fortran,
    const std::string& shape,
    std::size_t bytes) {
  std::string header = "{'descr': '" + type +
      "', 'fortran_order': " + (fortran ? "True" : "False") +
      ", 'shape': " + shape + ", }";
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  return std::string("\x93NUMPY\x01\x00", 8) +
      temper::fuzz::little_endian(static_cast<std::uint16_t>(header.size())) +
      header + std::string(bytes, 'n');
}

// A zip archive of one stored file; the checksum is that of its bytes.
std::string zip(const std::string& name, const std::string& data) {
  using temper::fuzz::little_endian;
  std::uint32_t crc = 0xffffffff;
  for (const char c : data) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit)
      crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
  }
  const auto size = static_cast<std::uint32_t>(data.size());
  const std::string common = little_endian<std::uint16_t>(20) +
      std::string(8, '\0') + little_endian<std::uint32_t>(~crc) +
      little_endian(size) + little_endian(size) +
      little_endian(static_cast<std::uint16_t>(name.size())) +
      std::string(2, '\0');
  const std::string local = "PK\3\4" + common + name + data;
  const std::string central =
      std::string("PK\1\2\x14\0", 6) + common + std::string(14, '\0') + name;
  return local + central + std::string("PK\5\6\0\0\0\0\1\0\1\0", 12) +
      little_endian(static_cast<std::uint32_t>(central.size())) +
      little_endian(static_cast<std::uint32_t>(local.size())) +
      std::string(2, '\0');
}

} // namespace

std::vector<std::string> temper::fuzz::seeds() {
  return {
      npy("<f4", false, "(3, 5)", 60),
      npy("|u1", false, "(2, 4, 4, 3)", 96),
      npy("<i8", true, "(4,)", 32),
      npy(">f8", true, "(2, 3)", 48),
      npy("|b1", false, "()", 1),
      zip("x.npy", npy("<i2", false, "(2, 2)", 8))};
}

extern "C" int LLVMFuzzerTestOneInput(
    const std::uint8_t* data,
    std::size_t size) {
  using namespace temper::data;
  try {
    const auto array = parse_npy({data, size}, nullptr, "input");
    std::vector<std::uint8_t> scratch;
    if (!array.header.shape.empty() && array.header.shape[0] > 0) {
      const auto row = npy_row(array, array.header.shape[0] - 1, scratch);
      std::vector<float> numbers(
          static_cast<std::size_t>(array.header.row_items()));
      npy_to_floats(array.header, row, numbers.data());
    }
  } catch (const temper::Error&) {
  }
  static temper::fuzz::InputFile archive(".npz");
  try {
    const auto& path = archive.write(data, size);
    for (const auto& name : npz_names(path))
      read_npz(path, name);
  } catch (const temper::Error&) {
  }
  return 0;
}
