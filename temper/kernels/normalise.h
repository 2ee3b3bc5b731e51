// Eight-bit pixels to float32 as torchvision's ToTensor and Normalize compute
// it: v = x / 255, then (v - mean) / deviation, rounding after each step. Used
// where an image is placed into its batch.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace temper::kernels {

class Normaliser {
 public:
  // One mean and one deviation per channel, 1 or 3; both empty: x / 255.
  Normaliser(
      int channels,
      const std::vector<float>& mean,
      const std::vector<float>& deviation);

  int channels() const {
    return channels_;
  }
  // The result for one value: the definition, which the tests compare with.
  float value(int channel, std::uint8_t x) const {
    return tables_[static_cast<std::size_t>(channel)][x];
  }

  // Interleaved pixels to interleaved floats.
  void interleaved(const std::uint8_t* in, std::size_t pixels, float* out)
      const;
  // Interleaved pixels to one plane of floats after the other.
  void planar(const std::uint8_t* in, std::size_t pixels, float* out) const;

  // How the vector code sees it: constants repeated with the period of the
  // channels, long enough for three vectors of any width.
  static constexpr std::size_t kPattern = 192;
  struct Constants {
    alignas(64) std::array<float, kPattern> mean;
    alignas(64) std::array<float, kPattern> deviation;
    alignas(64) std::array<float, kPattern> reciprocal;
    // Whether multiplying with the reciprocal and correcting once gives the
    // quotient, to the last bit, for each of the 256 values.
    bool reciprocal_is_exact = true;
  };

 private:
  int channels_;
  std::array<std::array<float, 256>, 3> tables_;
  Constants constants_;
};

} // namespace temper::kernels
