// Softmax cross-entropy of [rows, classes], against a label a row or against
// probabilities. The forward pass adds the loss up in double and keeps the
// logarithm of each row's sum of exponentials; the backward pass makes the
// gradient from it in one pass over the scores.
//
// The loss of a row with label y, weights w, smoothing e and C classes:
//   (1 - e) w[y] (L - x[y]) + e / C * sum over c of w[c] (L - x[c]),
// and against probabilities t: sum over c of t[c] w[c] (L - x[c]), where
// L = log sum exp x. A row whose label is `ignored` has neither loss nor
// gradient.
#pragma once

#include <cstdint>

namespace temper::kernels {

struct CrossEntropyRows {
  std::int64_t rows = 0;
  std::int64_t classes = 0;
  const float* scores = nullptr;
  std::int64_t stride = 0; // between rows
  const std::int64_t* labels = nullptr; // or null, and then:
  const float* probabilities = nullptr; // [rows, classes]
  const float* weights = nullptr; // [classes]; null: ones
  double smoothing = 0; // of labels only
  std::int64_t ignored = -100;
};

struct CrossEntropySum {
  double loss = 0;
  double weight = 0; // the labels' weights added up: a mean's divisor
  bool labels_in_range = true; // else the rest is not meaningful
};
// `log_sums` [rows] may be null.
CrossEntropySum cross_entropy_forward(
    const CrossEntropyRows& rows,
    float* log_sums);

// dscores [rows, classes] = factor * the gradient of the sum.
void cross_entropy_backward(
    const CrossEntropyRows& rows,
    const float* log_sums,
    float factor,
    float* dscores);

struct CrossEntropyTable {
  CrossEntropySum (*forward)(const CrossEntropyRows&, float*);
  void (*backward)(const CrossEntropyRows&, const float*, float, float*);
};

} // namespace temper::kernels
