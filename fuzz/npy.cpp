// NumPy's arrays, single and in archives.
#include "temper/data/format/npy.h"

#include "input_file.h"
#include "target.h"
#include "temper/base/error.h"
#include "temper/data/format/npz.h"
#include "temper/data/source/npy_source.h"
#include "zip_text.h"

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

} // namespace

std::vector<std::string> temper::fuzz::seeds() {
  return {
      npy("<f4", false, "(3, 5)", 60),
      npy("|u1", false, "(2, 4, 4, 3)", 96),
      npy("<i8", true, "(4,)", 32),
      npy(">f8", true, "(2, 3)", 48),
      npy("|b1", false, "()", 1),
      zip_of({{"x.npy", npy("<i2", false, "(2, 2)", 8)}})};
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
