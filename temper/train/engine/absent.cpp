// The train room's answer in a build without LibTorch.
#include "temper/base/error.h"
#include "temper/train/engine/convolution_trial.h"
#include "temper/train/engine/features.h"
#include "temper/train/engine/kernel_trial.h"
#include "temper/train/engine/make_engine.h"

namespace temper::train {

namespace {

[[noreturn]] void refuse_without_torch() {
  throw Error(
      "[train] cannot train: temper was built without LibTorch.",
      "Build it with TEMPER_TORCH=ON.");
}

} // namespace

std::unique_ptr<Engine> make_engine(const EngineRequest&) {
  refuse_without_torch();
}

std::unique_ptr<FeatureExtractor> make_extractor(const ExtractorRequest&) {
  refuse_without_torch();
}

std::optional<std::int64_t> convolution_bytes(const graph::ConvolutionCase&) {
  return {};
}

std::uint64_t kernel_bytes(const KernelTrial&) {
  return 0;
}

} // namespace temper::train
