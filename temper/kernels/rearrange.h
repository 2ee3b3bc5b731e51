// Moving pixels without changing them: mirroring, and between interleaved
// channels and planes. Used by sources (CIFAR's files are planes), the flip,
// and where a batch wants planes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace temper::kernels {

// Mirrors each row in place; channels is 1 or 3, interleaved, without gaps.
void flip_horizontally(
    std::uint8_t* pixels,
    std::size_t width,
    std::size_t height,
    int channels);

// Three planes of `pixels` bytes to interleaved RGB, and back. The two must
// not overlap.
void planar_to_interleaved(
    const std::uint8_t* planes,
    std::size_t pixels,
    std::uint8_t* out);
void interleaved_to_planar(
    const std::uint8_t* in,
    std::size_t pixels,
    std::uint8_t* planes);

} // namespace temper::kernels
