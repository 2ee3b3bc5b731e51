// Mixing neighbours in a batch: mixup (Zhang et al., 2017) and cutmix (Yun et
// al., 2019) as torchvision's reference training does it: each sample with the
// one before it, the first with the last, one lambda for the batch. Used by the
// engine on float32 batches with one target row per sample.
#pragma once

#include <cstddef>
#include <cstdint>

#include "temper/base/random/philox.h"
#include "temper/data/transform/crop.h"

namespace temper::data {

struct MixBatch {
  float* inputs = nullptr; // samples x height x width x channels
  float* targets = nullptr; // samples x classes, rows that sum to 1
  int samples = 0;
  int height = 0;
  int width = 0;
  int channels = 0;
  int classes = 0;
  bool channels_last = true;
};

// Rows of ones and zeros, or with label smoothing of nearly so.
void one_hot(
    const std::int64_t* labels,
    int samples,
    int classes,
    float smoothing,
    float* targets);

// The batch's own randomness.
RandomStream
batch_stream(std::uint64_t seed, std::uint32_t epoch, std::int64_t batch);
// A draw from Beta(alpha, alpha); alpha > 0.
double draw_lambda(double alpha, RandomStream& random);

// x = lambda x + (1 - lambda) (the one before), targets likewise.
void mixup(const MixBatch& batch, double lambda);

// The box that is cut for this lambda and centre, inside the image.
Box cutmix_box(int width, int height, double lambda, int x, int y);
// The box comes from the one before; targets mix by its area.
void cutmix(const MixBatch& batch, const Box& box);

struct MixOptions {
  double mixup_alpha = 0; // 0: never
  double cutmix_alpha = 0;
};

// Draws what to do (one of the two, when both are asked for) and does it.
void mix(const MixBatch& batch, const MixOptions& options, RandomStream random);

} // namespace temper::data
