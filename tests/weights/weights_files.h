// Weights and files of them, for tests: small tensors with known numbers, a
// place that is gone afterwards, safetensors files spelled by hand.
#pragma once

#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "temper/base/text.h"
#include "temper/graph/ir/weights.h"

namespace temper::weights {

class WeightsPlace {
 public:
  WeightsPlace() {
    static int number = 0;
    path_ = std::filesystem::temp_directory_path() /
        cat("temper-weights-", ::getpid(), "-", number++);
    std::filesystem::create_directories(path_);
  }
  ~WeightsPlace() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  WeightsPlace(const WeightsPlace&) = delete;
  WeightsPlace& operator=(const WeightsPlace&) = delete;

  std::filesystem::path operator/(const std::string& name) const {
    return path_ / name;
  }
  // The file of that name, with these bytes.
  std::filesystem::path write(const std::string& name, const std::string& bytes)
      const {
    std::ofstream(path_ / name, std::ios::binary) << bytes;
    return path_ / name;
  }

 private:
  std::filesystem::path path_;
};

inline std::string bytes_of_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline graph::TensorData floats(
    const std::vector<std::int64_t>& sizes,
    const std::vector<float>& values) {
  auto tensor = graph::make_tensor(graph::DType::kFloat32, sizes);
  std::memcpy(tensor.bytes, values.data(), values.size() * sizeof(float));
  return tensor.data;
}

inline std::string bytes_in(const graph::TensorData& tensor) {
  return {reinterpret_cast<const char*>(tensor.bytes.get()), tensor.byte_count};
}

inline std::vector<float> floats_in(const graph::TensorData& tensor) {
  std::vector<float> values(tensor.byte_count / sizeof(float));
  if (!values.empty())
    std::memcpy(values.data(), tensor.bytes.get(), tensor.byte_count);
  return values;
}

// Eight bytes of length, the header, the data.
inline std::string safetensors_bytes(
    const std::string& header,
    const std::string& data) {
  std::string bytes;
  for (int i = 0; i < 8; ++i)
    bytes += static_cast<char>(std::uint64_t{header.size()} >> (8 * i));
  return bytes + header + data;
}

} // namespace temper::weights
