// The model room's answers in a build without LibTorch.
#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/model/export/torchscript.h"

namespace temper::model {

void write_torchscript(
    const graph::Program&,
    const std::filesystem::path& path,
    const std::map<std::string, std::string>&) {
  throw Error(
      cat("[model] cannot write ",
          path.string(),
          ": temper was built without LibTorch, which writes TorchScript."),
      "Write a .pt2 or .safetensors file, or build with TEMPER_TORCH=ON.");
}

} // namespace temper::model
