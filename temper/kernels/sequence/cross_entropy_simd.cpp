#include "temper/kernels/sequence/cross_entropy.h"

#include "temper/kernels/sequence/chunks.h"
#include "temper/kernels/sequence/elementary.h"
#include "temper/kernels/simd/scratch.h"

namespace temper::kernels::TEMPER_TARGET {
namespace {

constexpr std::int64_t kRowsOfChunk = 64;
constexpr std::int64_t kClassCost = 32; // of a number, in multiply-adds

[[gnu::always_inline]] inline Vec
lanes_or(const float* from, int count, float otherwise) {
  Vec value = broadcast(otherwise);
  for (int i = 0; i < count; ++i)
    value[i] = from[i];
  return value;
}

float log_sum_of(const float* x, std::int64_t classes) {
  const float none = -__builtin_inff();
  Vec high = broadcast(none);
  std::int64_t c = 0;
  for (; c + kLanes <= classes; c += kLanes) {
    const Vec v = load(x + c);
    high = high < v ? v : high;
  }
  const int rest = static_cast<int>(classes - c);
  const Vec last = lanes_or(x + c, rest, none);
  if (rest > 0) high = high < last ? last : high;
  const float top = fold_max(high);
  const Vec shift = broadcast(top);
  Vec sum = {};
  for (c = 0; c + kLanes <= classes; c += kLanes)
    sum += exp_of(load(x + c) - shift);
  if (rest > 0) sum += exp_of(last - shift);
  return top + __builtin_logf(fold_sum(sum));
}

double exact(float value) {
  return static_cast<double>(value);
}

double weight_of(const CrossEntropyRows& r, std::int64_t label) {
  return r.weights == nullptr ? 1.0 : exact(r.weights[label]);
}

// The numbers that the gradient of a row needs beside the softmax.
struct SmoothingTerms {
  double share = 0; // e / C
  double all_weights = 0;
};
SmoothingTerms smoothing_terms(const CrossEntropyRows& r) {
  SmoothingTerms terms;
  if (r.labels == nullptr || r.smoothing == 0) return terms;
  terms.share = r.smoothing / static_cast<double>(r.classes);
  for (std::int64_t c = 0; c < r.classes; ++c)
    terms.all_weights += weight_of(r, c);
  return terms;
}

double label_loss(
    const CrossEntropyRows& r,
    const SmoothingTerms& terms,
    const float* x,
    std::int64_t label,
    double log_sum) {
  const double own = weight_of(r, label) * (log_sum - exact(x[label]));
  if (terms.share == 0) return own;
  double all = 0;
  for (std::int64_t c = 0; c < r.classes; ++c)
    all += weight_of(r, c) * (log_sum - exact(x[c]));
  return (1 - r.smoothing) * own + terms.share * all;
}

double soft_loss(
    const CrossEntropyRows& r,
    const float* x,
    const float* probabilities,
    double log_sum) {
  double all = 0;
  for (std::int64_t c = 0; c < r.classes; ++c)
    all += weight_of(r, c) * exact(probabilities[c]) * (log_sum - exact(x[c]));
  return all;
}

void add_row(
    const CrossEntropyRows& r,
    const SmoothingTerms& terms,
    std::int64_t i,
    float* log_sums,
    CrossEntropySum& sum) {
  const float* x = r.scores + i * r.stride;
  const std::int64_t label = r.labels == nullptr ? 0 : r.labels[i];
  const bool ignored = r.labels != nullptr && label == r.ignored;
  if (!ignored && (label < 0 || label >= r.classes)) {
    sum.labels_in_range = false;
    return;
  }
  if (ignored) {
    if (log_sums != nullptr) log_sums[i] = 0;
    return;
  }
  const float log_sum = log_sum_of(x, r.classes);
  if (log_sums != nullptr) log_sums[i] = log_sum;
  if (r.labels == nullptr) {
    sum.loss +=
        soft_loss(r, x, r.probabilities + i * r.classes, exact(log_sum));
    return;
  }
  sum.weight += weight_of(r, label);
  sum.loss += label_loss(r, terms, x, label, exact(log_sum));
}

std::int64_t row_chunks(const CrossEntropyRows& r) {
  return (r.rows + kRowsOfChunk - 1) / kRowsOfChunk;
}

CrossEntropySum loss_forward(const CrossEntropyRows& r, float* log_sums) {
  const SmoothingTerms terms = smoothing_terms(r);
  const std::int64_t chunks = row_chunks(r);
  auto* parts = reinterpret_cast<CrossEntropySum*>(scratch(
      0,
      static_cast<std::size_t>(chunks) * sizeof(CrossEntropySum) /
          sizeof(float)));
  for_each_chunk_of(
      r.rows * r.classes * kClassCost, chunks, [&](std::int64_t chunk) {
        CrossEntropySum sum;
        const std::int64_t end = (chunk + 1) * kRowsOfChunk;
        for (std::int64_t i = chunk * kRowsOfChunk; i < end && i < r.rows; ++i)
          add_row(r, terms, i, log_sums, sum);
        parts[chunk] = sum;
      });
  CrossEntropySum all;
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
    all.loss += parts[chunk].loss;
    all.weight += parts[chunk].weight;
    all.labels_in_range &= parts[chunk].labels_in_range;
  }
  return all;
}

// d[c] = scale * exp(x[c] - log_sum) - factor * share of the class.
struct RowGradient {
  float scale = 0;
  float flat = 0; // taken from every class, times its weight
};

void label_gradient(
    const CrossEntropyRows& r,
    const RowGradient& row,
    const float* x,
    float log_sum,
    float* d) {
  const Vec shift = broadcast(log_sum);
  const Vec scale = broadcast(row.scale);
  const Vec flat = broadcast(row.flat);
  std::int64_t c = 0;
  for (; c + kLanes <= r.classes; c += kLanes) {
    Vec v = scale * exp_of(load(x + c) - shift);
    if (row.flat != 0)
      v -= r.weights == nullptr ? flat : flat * load(r.weights + c);
    store(d + c, v);
  }
  if (c == r.classes) return;
  const int rest = static_cast<int>(r.classes - c);
  Vec v = scale * exp_of(lanes_or(x + c, rest, 0) - shift);
  if (row.flat != 0)
    v -= r.weights == nullptr ? flat : flat * lanes_or(r.weights + c, rest, 0);
  store_some(d + c, v, rest);
}

void row_backward(
    const CrossEntropyRows& r,
    const SmoothingTerms& terms,
    std::int64_t i,
    float log_sum,
    double factor,
    float* d) {
  const float* x = r.scores + i * r.stride;
  if (r.labels == nullptr) {
    const float* t = r.probabilities + i * r.classes;
    double all = 0;
    for (std::int64_t c = 0; c < r.classes; ++c)
      all += weight_of(r, c) * exact(t[c]);
    label_gradient(r, {static_cast<float>(factor * all), 0}, x, log_sum, d);
    for (std::int64_t c = 0; c < r.classes; ++c)
      d[c] -= static_cast<float>(factor * weight_of(r, c) * exact(t[c]));
    return;
  }
  const std::int64_t label = r.labels[i];
  if (label == r.ignored) {
    for (std::int64_t c = 0; c < r.classes; ++c)
      d[c] = 0.0f;
    return;
  }
  const double own = (1 - r.smoothing) * weight_of(r, label);
  const RowGradient row{
      static_cast<float>(factor * (own + terms.share * terms.all_weights)),
      static_cast<float>(factor * terms.share)};
  label_gradient(r, row, x, log_sum, d);
  d[label] -= static_cast<float>(factor * own);
}

void loss_backward(
    const CrossEntropyRows& r,
    const float* log_sums,
    float factor,
    float* dscores) {
  const SmoothingTerms terms = smoothing_terms(r);
  for_each_chunk_of(
      r.rows * r.classes * kClassCost, row_chunks(r), [&](std::int64_t chunk) {
        const std::int64_t end = (chunk + 1) * kRowsOfChunk;
        for (std::int64_t i = chunk * kRowsOfChunk; i < end && i < r.rows; ++i)
          row_backward(
              r, terms, i, log_sums[i], exact(factor), dscores + i * r.classes);
      });
}

} // namespace

extern const CrossEntropyTable cross_entropy_table;
const CrossEntropyTable cross_entropy_table{loss_forward, loss_backward};

} // namespace temper::kernels::TEMPER_TARGET
