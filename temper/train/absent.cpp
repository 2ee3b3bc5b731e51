// The train room's answer in a build without LibTorch.
#include "temper/base/error.h"
#include "temper/train/make_engine.h"

namespace temper::train {

std::unique_ptr<Engine> make_engine(const EngineRequest&) {
  throw Error(
      "[train] cannot train: temper was built without LibTorch.",
      "Build it with TEMPER_TORCH=ON.");
}

} // namespace temper::train
