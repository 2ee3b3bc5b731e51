#include "temper/model/export/torchscript.h"

#include <torch/csrc/jit/serialization/export.h>

#include <exception>

#include "temper/base/file/atomic_file.h"
#include "temper/model/script/script_builder.h"

namespace temper::model {

void write_torchscript(
    const graph::Program& program,
    const std::filesystem::path& path,
    const std::map<std::string, std::string>& extra) {
  torch::jit::Module module = script_modules(program);
  auto* forward = module._ivalue()->compilation_unit()->create_function(
      c10::QualifiedName(*module.type()->name(), "forward"),
      ScriptBuilder(program, module).build());
  module.type()->addMethod(forward);

  AtomicFile file(path);
  std::exception_ptr failure;
  // LibTorch's writer cannot bear a failure: after one, the rest is taken in
  // silence and the failure goes on here.
  const std::function<std::size_t(const void*, std::size_t)> write =
      [&](const void* data, std::size_t bytes) {
        try {
          if (!failure) file.write(data, bytes);
        } catch (...) {
          failure = std::current_exception();
        }
        return bytes;
      };
  torch::jit::ExportModule(module, write, {extra.begin(), extra.end()});
  if (failure) std::rethrow_exception(failure);
  file.commit();
}

} // namespace temper::model
