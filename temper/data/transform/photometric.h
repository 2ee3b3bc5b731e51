// Operations on the colours of an image, with Pillow's arithmetic: what colour
// jitter, RandAugment and TrivialAugment are made of. They change the image in
// place and know nothing of chance.
#pragma once

#include "temper/data/sample/image.h"

namespace temper::data {

// Factor 1 leaves the image as it is, 0 gives black, grey, colourless or
// smooth; more than 1 exaggerates.
void adjust_brightness(Image& image, double factor);
void adjust_contrast(Image& image, double factor);
void adjust_saturation(Image& image, double factor);
// Works from `spare`, which becomes the result: the two are swapped.
void adjust_sharpness(Image& image, Image& spare, double factor);
// Turns the colour circle by `turn`, -0.5..0.5. Grey images have no hue.
void adjust_hue(Image& image, double turn);

// Keeps the upper `bits` bits, 0..8, of each value.
void posterize(Image& image, int bits);
// Inverts what is not below the threshold.
void solarize(Image& image, double threshold);
void invert(Image& image);
// Per channel: stretches the values to 0..255; spreads them evenly.
void autocontrast(Image& image);
void equalize(Image& image);

} // namespace temper::data
