#include "temper/train/torch/step_errors.h"

#include <c10/util/Exception.h>

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/libtorch/messages.h"
#include "temper/libtorch/out_of_memory.h"
#include "temper/model/module/tensors.h"
#include "temper/train/engine/engine.h"
#include "temper/train/torch/device_mismatch.h"

namespace temper::train {
namespace {

using libtorch::Trouble;

[[noreturn]] void one_value(
    const StepContext& context,
    const std::string& why) {
  const bool split = context.whole > context.batch.samples;
  throw Error(
      cat("[train] BatchNorm cannot learn from one value a channel: ",
          split ? "a slice" : "a batch",
          " has ",
          plural(context.batch.samples, "sample"),
          " (",
          why,
          ")."),
      split ? "Set memory.micro_batch so that no slice has a single sample."
            : "Set train.drop_last = true, or another train.batch.");
}

// An error that temper cannot say better goes on as it is.
void explain(const StepContext& context, const std::string& message) {
  const std::string why = libtorch::first_line(message);
  switch (libtorch::trouble_of(message)) {
    case Trouble::devices:
      mixed_devices(context, why);
    case Trouble::types:
      mixed_types(context, why);
    case Trouble::one_value:
      one_value(context, why);
    case Trouble::nondeterministic:
      throw Error(
          cat("[train] deterministic = true, and LibTorch has no "
              "deterministic way to do this on ",
              context.device.str(),
              " (",
              why.substr(0, why.find(", but you set")),
              ")."),
          "Set deterministic = false, or use a model without that operator.");
    case Trouble::memory:
    case Trouble::other:
      return;
  }
}

} // namespace

void rethrow_of_step(const StepContext& context) {
  try {
    throw;
  } catch (const Error& error) { // the executor's, which names the operator
    const auto trouble = libtorch::trouble_of(error.what());
    if (trouble == Trouble::one_value || trouble == Trouble::nondeterministic)
      explain(context, error.what());
    throw;
  } catch (const c10::Error& error) {
    const std::string message = error.what_without_backtrace();
    explain(context, message);
    if (libtorch::trouble_of(message) == Trouble::memory) throw;
    throw Error(
        cat("[train] ",
            context.step,
            " failed: ",
            libtorch::first_line(message),
            "."),
        cat("It was given: ", given(context), "."));
  }
}

void rethrow_of_memory(std::int64_t samples) {
  try {
    throw;
  } catch (const NotFinite&) {
    throw;
  } catch (const std::exception& error) {
    if (!libtorch::is_out_of_memory(error)) throw;
    throw OutOfMemory(cat(
        "[train] out of memory",
        samples > 0 ? cat(" with a batch of ", plural(samples, "sample")) : "",
        ": ",
        libtorch::first_line(error.what()),
        "."));
  }
}

void check_loss(
    const at::Tensor& loss,
    bool needs_gradient,
    const StepContext& context) {
  std::string why;
  if (!loss.defined())
    why = "it is no tensor";
  else if (loss.numel() != 1)
    why = "a loss is one number, the sum over the batch";
  else if (loss.device() != context.device)
    why =
        cat("the model is on ",
            context.device.str(),
            ": move it there with .to(batch.inputs.device())");
  else if (needs_gradient && !loss.requires_grad())
    why = "no gradient leads through it: compute it with model()";
  else if (
      loss.scalar_type() == at::kDouble && model_type(context) != at::kDouble)
    why =
        cat("the model is ",
            type_name(model_type(context)),
            ": a tensor of the step's own is float64, convert it with "
            ".to(at::kFloat)");
  if (why.empty()) return;
  throw Error(
      cat("[train] ",
          context.step,
          "'s loss cannot be used: ",
          loss.defined() ? cat("it is ",
                               model::tensor_text(loss),
                               " on ",
                               loss.device().str(),
                               ", and ")
                         : "",
          why,
          "."));
}

} // namespace temper::train
