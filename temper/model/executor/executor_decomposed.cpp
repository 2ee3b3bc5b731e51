// Operators that newer PyTorch exports and older LibTorch lacks, written with
// what it has. Only tried when the dispatcher does not know the operator.
#include <algorithm>
#include <array>
#include <limits>

#include "temper/model/executor/attention.h"
#include "temper/model/executor/executor_steps.h"

namespace temper::model {
namespace {

NodeCall attention(Arguments& a) {
  AttentionByParts options;
  const Number dropout = a.number("dropout_p", 0.0);
  options.is_causal = a.boolean("is_causal", false);
  options.grouped = a.boolean("enable_gqa", false);
  const bool scaled = a.given("scale");
  const Number scale = a.number("scale", 1.0);
  return [query = a.tensor("query"),
          key = a.tensor("key"),
          value = a.tensor("value"),
          mask = a.optional_tensor("attn_mask"),
          y = a.output(),
          dropout,
          scaled,
          scale,
          options](Frame& f) {
    AttentionByParts now = options;
    now.dropout = dropout.real(f);
    if (scaled) now.scale = scale.real(f);
    at_slot(f, y) = attend(
        at_slot(f, query),
        at_slot(f, key),
        at_slot(f, value),
        at_slot(f, mask),
        now);
  };
}

NodeCall rms_norm_step(Arguments& a) {
  const bool has_eps = a.given("eps");
  return [x = a.tensor("input"),
          shape = a.ints("normalized_shape"),
          weight = a.optional_tensor("weight"),
          eps = a.number("eps", 0.0),
          has_eps,
          y = a.output()](Frame& f) {
    const at::Tensor& input = at_slot(f, x);
    std::vector<std::int64_t> dims;
    for (std::size_t i = 0; i < shape.fixed.size(); ++i)
      dims.push_back(-1 - static_cast<std::int64_t>(i));
    // Without a number: the smallest step of the type, as PyTorch takes it.
    const double small = has_eps ? eps.real(f)
        : input.scalar_type() == at::kDouble
        ? std::numeric_limits<double>::epsilon()
        : static_cast<double>(std::numeric_limits<float>::epsilon());
    at::Tensor result =
        input * at::rsqrt(input.pow(2).mean(dims, true).add(small));
    if (weight != kNoTensor) result = result * at_slot(f, weight);
    at_slot(f, y) = result;
  };
}

// From the last dimension on, so that the others keep their places.
std::vector<std::int64_t> last_first(at::IntArrayRef dims, std::int64_t rank) {
  std::vector<std::int64_t> sorted;
  for (const auto dim : dims)
    sorted.push_back(dim < 0 ? dim + rank : dim);
  std::sort(sorted.rbegin(), sorted.rend());
  return sorted;
}

NodeCall squeeze_step(Arguments& a) {
  return
      [x = a.tensor("self"), dims = a.ints("dim"), y = a.output()](Frame& f) {
        at::Tensor result = at_slot(f, x);
        for (const auto dim : last_first(dims.fixed, result.dim()))
          result = result.squeeze(dim);
        at_slot(f, y) = result;
      };
}

template <class Call>
StepMaker reduced(Call call) {
  return [call](Arguments& a) -> NodeCall {
    return [call,
            x = a.tensor("self"),
            dims = a.ints("dim"),
            all = !a.given("dim"),
            keep = a.boolean("keepdim", false),
            y = a.output()](Frame& f) {
      at::Tensor result = at_slot(f, x);
      std::vector<std::int64_t> over = dims.fixed;
      if (all)
        for (std::int64_t i = 0; i < result.dim(); ++i)
          over.push_back(i);
      for (const auto dim : last_first(over, result.dim()))
        result = call(result, dim, keep);
      at_slot(f, y) = result;
    };
  };
}

// A row that is masked everywhere gives zeros, not NaN.
NodeCall safe_softmax_step(Arguments& a) {
  if (a.given("dtype")) a.refuse("dtype", "is unknown to this LibTorch");
  return
      [x = a.tensor("self"), dim = a.number("dim"), y = a.output()](Frame& f) {
        const at::Tensor& input = at_slot(f, x);
        const auto along = dim.integer(f);
        const at::Tensor masked = at::isneginf(input).all(along, true);
        at_slot(f, y) = at::softmax(input.masked_fill(masked, 0.0), along)
                            .masked_fill(masked, 0.0);
      };
}

} // namespace

void check_values_a_channel(const at::Tensor& input) {
  TORCH_CHECK(
      input.dim() < 2 || input.numel() > input.size(1),
      "Expected more than 1 value per channel when training, got input size ",
      input.sizes());
}

namespace {

// BatchNorm as decomposed exports have it: with the statistics written in place
// or handed out, or with none.
enum class Statistics { kWritten, kHandedOut, kNone, kOnlyRead };

StepMaker batch_norm_step(Statistics kind) {
  return [kind](Arguments& a) -> NodeCall {
    std::vector<int> results;
    for (std::size_t i = 0; i < a.node().outputs.size(); ++i)
      results.push_back(a.output(i));
    const bool has = kind != Statistics::kNone;
    return [x = a.tensor("input"),
            weight = a.optional_tensor("weight"),
            bias = a.optional_tensor("bias"),
            mean = has ? a.tensor("running_mean") : kNoTensor,
            var = has ? a.tensor("running_var") : kNoTensor,
            training = kind != Statistics::kOnlyRead && a.boolean("training"),
            momentum = a.number("momentum"),
            eps = a.number("eps"),
            copies = kind == Statistics::kHandedOut,
            results](Frame& f) {
      if (training) check_values_a_channel(at_slot(f, x));
      at::Tensor new_mean = at_slot(f, mean);
      at::Tensor new_var = at_slot(f, var);
      if (copies) {
        new_mean = new_mean.clone();
        new_var = new_var.clone();
      }
      const auto made = at::native_batch_norm(
          at_slot(f, x),
          at_slot(f, weight),
          at_slot(f, bias),
          new_mean,
          new_var,
          training,
          momentum.real(f),
          eps.real(f));
      const std::array<at::Tensor, 5> all{
          std::get<0>(made),
          std::get<1>(made),
          std::get<2>(made),
          new_mean,
          new_var};
      for (std::size_t i = 0; i < results.size() && i < all.size(); ++i)
        at_slot(f, results[i]) = all[i];
    };
  };
}

// The input at these places, bounds unchecked there and checked here.
NodeCall index_step(Arguments& a) {
  static const auto index = find_torch_operator("aten.index.Tensor");
  if (!index) return {};
  a.take_schema(index->schema());
  return boxed_step(*index, a);
}

} // namespace

const StepMakers& decomposed_steps() {
  using T = const at::Tensor&;
  static const StepMakers table{
      {"aten._native_batch_norm_legit.default",
       batch_norm_step(Statistics::kWritten)},
      {"aten._native_batch_norm_legit.no_stats",
       batch_norm_step(Statistics::kNone)},
      {"aten._native_batch_norm_legit_functional.default",
       batch_norm_step(Statistics::kHandedOut)},
      {"aten._native_batch_norm_legit_no_training.default",
       batch_norm_step(Statistics::kOnlyRead)},
      {"aten._safe_softmax.default", safe_softmax_step},
      {"aten._unsafe_index.Tensor", index_step},
      {"aten.all.dims", reduced([](T x, std::int64_t dim, bool keep) {
         return x.all(dim, keep);
       })},
      {"aten.any.dims", reduced([](T x, std::int64_t dim, bool keep) {
         return x.any(dim, keep);
       })},
      {"aten.rms_norm.default", rms_norm_step},
      {"aten.scaled_dot_product_attention.default", attention},
      {"aten.squeeze.dims", squeeze_step},
  };
  return table;
}

} // namespace temper::model
