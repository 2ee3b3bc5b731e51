#include "temper/model/executor/executor_errors.h"

#include <c10/util/Exception.h>

#include <array>
#include <new>

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/libtorch/messages.h"
#include "temper/libtorch/torch/compat.h"
#include "temper/model/module/tensors.h"

namespace temper::model {
namespace {

// Where operators that exports name, and older LibTorch lacks, appeared first.
struct Since {
  const char* op;
  const char* version;
};
constexpr std::array<Since, 14> kSince{{
    {"aten.scaled_dot_product_attention", "2.0"},
    {"aten.squeeze.dims", "2.0"},
    {"aten._native_batch_norm_legit", "2.0"},
    {"aten._unsafe_index", "2.1"},
    {"aten.all.dims", "2.2"},
    {"aten.any.dims", "2.2"},
    {"aten._scaled_dot_product_flash_attention_for_cpu", "2.2"},
    {"aten._scaled_dot_product_fused_attention_overrideable", "2.4"},
    {"aten.empty_permuted", "2.1"},
    {"aten._weight_int8pack_mm", "2.2"},
    {"aten.rms_norm", "2.4"},
    {"aten._safe_softmax", "2.5"},
    {"aten._unsafe_masked_index", "2.5"},
    {"aten._fused_rms_norm", "2.8"},
}};

bool is_lack_of_memory(const std::string& text) {
  return libtorch::trouble_of(text) == libtorch::Trouble::memory;
}

// LibTorch 1.13 multiplies no float16 on the processor.
std::string advice_on(const std::string& why) {
  if (!contains(why, "not implemented for 'Half'")) return "";
  return "This LibTorch does not compute it in float16 on the processor. "
         "Export the model with torch.bfloat16 or torch.float32 there.";
}

Error failure(
    const graph::Node& node,
    const std::vector<at::Tensor>& given,
    const std::string& text) {
  const std::string why = libtorch::first_line(text);
  std::vector<std::string> tensors;
  for (const auto& tensor : given)
    tensors.push_back(tensor_text(tensor));
  return Error(
      cat("[model] ",
          node_text(node),
          " failed",
          tensors.empty() ? std::string() : cat(" on ", join(tensors, ", ")),
          ": ",
          why,
          "."),
      advice_on(why));
}

} // namespace

std::string node_text(const graph::Node& node) {
  return cat(
      node.op,
      node.module.empty() ? "" : " of ",
      node.module,
      node.source.empty() ? "" : " (",
      node.source,
      node.source.empty() ? "" : ")");
}

void rethrow_of_node(
    const graph::Node& node,
    const std::vector<at::Tensor>& given) {
  try {
    throw;
  } catch (const Error&) {
    throw;
  } catch (const Bug&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (c10::Error& error) {
    const std::string why = error.what_without_backtrace();
    if (is_lack_of_memory(why)) {
      error.add_context(cat("in ", node_text(node)));
      throw;
    }
    throw failure(node, given, why);
  } catch (const std::exception& error) {
    if (is_lack_of_memory(error.what())) throw;
    throw failure(node, given, error.what());
  }
}

void refuse_operator(const graph::Node& node) {
  std::string needed;
  for (const auto& [op, version] : kSince)
    if (node.op.starts_with(op)) needed = version;
  const bool aten = node.op.starts_with("aten.");
  throw Error(
      cat("[model] ",
          node_text(node),
          " cannot run: LibTorch ",
          libtorch::header_version(),
          " has no such operator",
          needed.empty() ? std::string() : cat("; it came with ", needed),
          "."),
      !needed.empty() ? cat("Build temper with LibTorch ", needed, " or newer.")
          : aten ? "Build temper with the LibTorch that exported the file, or "
                   "newer."
                 : "Export the model with plain ATen operators only: this one "
                   "belongs to an extension.");
}

} // namespace temper::model
