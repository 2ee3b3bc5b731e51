#include "temper/libtorch/onednn.h"

#include <dlfcn.h>

#include <cstdlib>
#include <mutex>

namespace temper::libtorch {
namespace {

// oneDNN's C interface, as far as it is used.
struct OnednnVersion {
  int major;
  int minor;
  int patch;
};
using GetVersion = const OnednnVersion* (*)();
using SetMaxIsa = int (*)(int);
constexpr int kAvx512Bf16 = 0xe7; // oneDNN 2's number for it

template <class Function>
Function find(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_DEFAULT, name));
}

void limit() {
  for (const char* name : {"ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA"})
    if (std::getenv(name) != nullptr) return;
  const auto version = find<GetVersion>("dnnl_version");
  const auto set = find<SetMaxIsa>("dnnl_set_max_cpu_isa");
  if (version == nullptr || set == nullptr || version()->major != 2) return;
  set(kAvx512Bf16); // a limit, also on processors that have less
}

} // namespace

void keep_onednn_from_tiles() {
  static std::once_flag once;
  std::call_once(once, limit);
}

} // namespace temper::libtorch
