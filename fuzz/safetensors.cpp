// Weights in safetensors files. What is read is written and read again, and
// must be the same.
#include "temper/weights/safetensors.h"

#include <cstdlib>

#include "input_file.h"
#include "target.h"
#include "temper/base/error.h"

namespace {

std::string bytes_with(const std::string& header, const std::string& data) {
  return temper::fuzz::little_endian(std::uint64_t{header.size()}) + header +
      data;
}

} // namespace

std::vector<std::string> temper::fuzz::seeds() {
  return {
      bytes_with(
          R"({"a.weight":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}})",
          std::string(24, 'w')),
      bytes_with(
          R"({"__metadata__":{"format":"pt"},)"
          R"("a":{"dtype":"I64","shape":[],"data_offsets":[0,8]},)"
          R"("b":{"dtype":"BF16","shape":[0,5],"data_offsets":[8,8]},)"
          R"("c":{"dtype":"F16","shape":[1,1,2],"data_offsets":[8,12]},)"
          R"("d":{"dtype":"BOOL","shape":[3],"data_offsets":[12,15]}}  )",
          std::string(15, '\1')),
      bytes_with("{}", "")};
}

extern "C" int LLVMFuzzerTestOneInput(
    const std::uint8_t* data,
    std::size_t size) {
  using namespace temper;
  try {
    weights::Metadata metadata;
    const auto weights =
        weights::parse_safetensors({data, size}, nullptr, "input", &metadata);
    static fuzz::InputFile file(".safetensors");
    static const auto& path = file.write("", 0);
    if (weights.count("__metadata__") > 0) return 0;
    weights::write_safetensors(weights, path, metadata);
    weights::Metadata again;
    const auto copy = weights::read_safetensors(path, &again);
    if (again != metadata || copy.size() != weights.size()) std::abort();
    for (const auto& [name, tensor] : weights)
      if (copy.at(name).sizes != tensor.sizes) std::abort();
  } catch (const Error&) {
  }
  return 0;
}
