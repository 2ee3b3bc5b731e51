// Turns one plane a channel, as CIFAR and [N, C, H, W] arrays hold images, into
// the interleaved channels of Image.
#pragma once

#include <cstddef>
#include <cstdint>

namespace temper::data {

// `planes` holds `channels` (1 or 3) planes of `pixels` bytes each.
void interleave_planes(
    const std::uint8_t* planes,
    std::size_t pixels,
    int channels,
    std::uint8_t* interleaved);

} // namespace temper::data
