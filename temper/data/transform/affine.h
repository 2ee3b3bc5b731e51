// Shearing, shifting and turning an image with Pillow's nearest-neighbour
// arithmetic; what comes in from outside is black. Used by RandAugment and
// TrivialAugment.
#pragma once

#include <array>

#include "temper/data/sample/image.h"

namespace temper::data {

// Maps a place in the result to one in the image:
// x' = m[0] x + m[1] y + m[2], y' = m[3] x + m[4] y + m[5].
using AffineMatrix = std::array<double, 6>;

// These work from `spare`, which becomes the result: the two are swapped.
void transform_affine(Image& image, Image& spare, const AffineMatrix& matrix);
// `level` is the tangent of the angle; the corner at the origin stays.
void shear_x(Image& image, Image& spare, double level);
void shear_y(Image& image, Image& spare, double level);
void translate(Image& image, Image& spare, int right, int down);
// Anti-clockwise about the middle; the size stays.
void rotate(Image& image, Image& spare, double degrees);

} // namespace temper::data
