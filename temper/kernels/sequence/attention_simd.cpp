// One chunk is one head of one sample. Its keys and values are packed once;
// then blocks of queries go through scores, exact softmax over whole rows and
// the product with the values, in memory that stays in the second cache.
//
// The backward pass computes the scores again: P = exp(S - log sum). With
// G = P * (dY V^T - rowsum(dY * Y)):
//   dQ = scale G K,   dK = scale G^T Q,   dV = P^T dY.
#include "temper/kernels/sequence/attention.h"

#include "temper/kernels/gemm/row_block.h"
#include "temper/kernels/sequence/chunks.h"
#include "temper/kernels/sequence/elementary.h"
#include "temper/kernels/simd/scratch.h"

namespace temper::kernels::TEMPER_TARGET {
namespace {

// Slots of the thread of a chunk; the caller has none.
enum AttentionSlot {
  kKeyColumns = 8,
  kValuePanels,
  kKeyPanels,
  kScores,
  kSlopes,
  kQueries,
  kGradients,
  kTotals
};

std::int64_t least(std::int64_t a, std::int64_t b) {
  return a < b ? a : b;
}

// Few rows where the mask cuts much of a block away, else whole tiles of them.
std::int64_t query_block(const AttentionShape& s) {
  if (s.causal) return 24;
  return s.queries <= kBlockRows ? s.queries : 48;
}

float* attention_floats(int slot, std::int64_t count) {
  return scratch(slot, static_cast<std::size_t>(count));
}

template <class Number>
Number*
head_of(const HeadsView<Number>& view, std::int64_t chunk, std::int64_t heads) {
  return view.data + chunk / heads * view.batch_stride +
      chunk % heads * view.head_stride;
}

// Keys that the last row of a block of queries sees.
std::int64_t
seen(const AttentionShape& s, std::int64_t first, std::int64_t rows) {
  return s.causal ? least(s.keys, first + rows) : s.keys;
}

// Calls work(pointer, valid lanes, key) for the vectors of a row of scores.
template <class Work>
[[gnu::always_inline]] inline void over_row(
    float* block,
    std::int64_t capacity,
    std::int64_t row,
    std::int64_t keys,
    const Work& work) {
  for (std::int64_t first = 0; first < keys; first += kSlice) {
    float* at = in_block(block, capacity, row, first);
    const std::int64_t here = least(kSlice, keys - first);
    for (std::int64_t c = 0; c < here; c += kLanes)
      work(at + c, first + c);
  }
}

// Lanes beyond `count` become `value`.
[[gnu::always_inline]] inline void
fill_lanes(float* at, std::int64_t count, float value) {
  for (std::int64_t i = count; i < kLanes; ++i)
    at[i] = value;
}

// One row of scores becomes probabilities; the logarithm of its sum is
// returned. Numbers from `valid` up to the end of `keys` become zero.
float softmax_row(
    float* scores,
    std::int64_t capacity,
    std::int64_t row,
    std::int64_t valid,
    std::int64_t keys) {
  const std::int64_t last = (valid - 1) / kLanes * kLanes;
  if (valid - last < kLanes)
    fill_lanes(
        in_block(scores, capacity, row, last), valid - last, -__builtin_inff());
  Vec high = broadcast(-__builtin_inff());
  over_row(scores, capacity, row, valid, [&](float* at, std::int64_t) {
    const Vec x = load(at);
    high = high < x ? x : high;
  });
  const float largest = fold_max(high);
  const Vec top = broadcast(largest);
  Vec total = {};
  over_row(scores, capacity, row, valid, [&](float* at, std::int64_t) {
    const Vec p = exp_of(load(at) - top);
    store(at, p);
    total += p;
  });
  const float sum = fold_sum(total);
  const Vec share = broadcast(1.0f / sum);
  over_row(scores, capacity, row, valid, [&](float* at, std::int64_t) {
    store(at, load(at) * share);
  });
  for (std::int64_t c = last + kLanes; c < keys; c += kLanes)
    store(in_block(scores, capacity, row, c), Vec{});
  return largest + __builtin_logf(sum);
}

void scores_of(
    const AttentionShape& s,
    const float* queries,
    std::int64_t rows,
    std::int64_t keys,
    const float* key_columns,
    std::int64_t width,
    std::int64_t capacity,
    float* scores) {
  Product p;
  p.rows = rows;
  // Whole panels as they were packed: the last key's is the only narrow one.
  const std::int64_t panels = (keys + kTileColumns - 1) / kTileColumns;
  p.columns = least(whole_vectors(s.keys), panels * kTileColumns);
  p.depth = width;
  p.a = queries;
  p.a_capacity = capacity;
  p.panels = key_columns;
  p.c = scores;
  p.c_capacity = capacity;
  multiply(p);
}

void attend_head(const AttentionForward& f, std::int64_t chunk) {
  const AttentionShape& s = f.shape;
  const std::int64_t capacity = query_block(s);
  const float* q = head_of(f.q, chunk, s.heads);
  float* y = head_of(f.y, chunk, s.heads);
  float* key_columns =
      attention_floats(kKeyColumns, panel_floats(s.width, s.keys));
  float* values =
      attention_floats(kValuePanels, panel_floats(s.keys, s.value_width));
  float* scores = attention_floats(kScores, block_floats(capacity, s.keys));
  float* queries = attention_floats(kQueries, block_floats(capacity, s.width));
  pack_panels_transposed(
      head_of(f.k, chunk, s.heads),
      f.k.token_stride,
      s.width,
      s.keys,
      key_columns);
  pack_panels(
      head_of(f.v, chunk, s.heads),
      f.v.token_stride,
      s.keys,
      s.value_width,
      values);
  for (std::int64_t first = 0; first < s.queries; first += capacity) {
    const std::int64_t rows = least(capacity, s.queries - first);
    const std::int64_t keys = seen(s, first, rows);
    copy_to_block(
        q + first * f.q.token_stride,
        f.q.token_stride,
        rows,
        s.width,
        s.scale,
        queries,
        capacity);
    scores_of(s, queries, rows, keys, key_columns, s.width, capacity, scores);
    for (std::int64_t i = 0; i < rows; ++i) {
      const float log_sum =
          softmax_row(scores, capacity, i, seen(s, first + i, 1), keys);
      if (f.log_sums != nullptr)
        f.log_sums[chunk * s.queries + first + i] = log_sum;
    }
    Product p;
    p.rows = rows;
    p.columns = s.value_width;
    p.depth = keys;
    p.panel_depth = s.keys;
    p.a = scores;
    p.a_capacity = capacity;
    p.panels = values;
    p.c = y + first * f.y.token_stride;
    p.c_stride = f.y.token_stride;
    multiply(p);
  }
}

float dot(const float* a, const float* b, std::int64_t count) {
  Vec sum = {};
  std::int64_t c = 0;
  for (; c + kLanes <= count; c += kLanes)
    sum += load(a + c) * load(b + c);
  float rest = 0;
  for (; c < count; ++c)
    rest += a[c] * b[c];
  return fold_sum(sum) + rest;
}

// Scores become P, products of the gradient with the values become G.
void slopes_of_row(
    float* scores,
    float* slopes,
    std::int64_t capacity,
    std::int64_t row,
    std::int64_t valid,
    std::int64_t keys,
    float log_sum,
    float weight) {
  const Vec shift = broadcast(log_sum);
  const Vec mean = broadcast(weight);
  over_row(scores, capacity, row, valid, [&](float* at, std::int64_t) {
    float* g = slopes + (at - scores);
    const Vec p = exp_of(load(at) - shift);
    store(at, p);
    store(g, p * (load(g) - mean));
  });
  const std::int64_t last = (valid - 1) / kLanes * kLanes;
  if (valid - last < kLanes) {
    fill_lanes(in_block(scores, capacity, row, last), valid - last, 0.0f);
    fill_lanes(in_block(slopes, capacity, row, last), valid - last, 0.0f);
  }
  for (std::int64_t c = last + kLanes; c < keys; c += kLanes) {
    store(in_block(scores, capacity, row, c), Vec{});
    store(in_block(slopes, capacity, row, c), Vec{});
  }
}

// Everything one head needs in its backward pass.
struct BackwardHead {
  const AttentionShape& s;
  std::int64_t capacity;
  const float* q;
  const float* y;
  const float* gradient;
  float* dq;
  float* key_columns;
  float* value_columns;
  float* key_panels;
  float* scores;
  float* slopes;
  float* queries;
  float* query_panels;
  float* gradients;
  float* gradient_panels;
  float* dk;
  float* dv;
};

void sum_over_queries(
    const BackwardHead& h,
    std::int64_t rows,
    std::int64_t keys,
    const float* a,
    const float* panels,
    std::int64_t width,
    bool add,
    float* to) {
  TransposedProduct p;
  p.rows = keys;
  p.columns = width;
  p.depth = rows;
  p.a = a;
  p.a_capacity = h.capacity;
  p.panels = panels;
  p.c = to;
  p.c_stride = width;
  p.add = add;
  multiply_transposed(p);
}

void attend_block_backward(
    const AttentionBackward& b,
    const BackwardHead& h,
    const float* log_sums,
    std::int64_t first) {
  const AttentionShape& s = h.s;
  const std::int64_t rows = least(h.capacity, s.queries - first);
  const std::int64_t keys = seen(s, first, rows);
  const float* gradient = h.gradient + first * b.gradient.token_stride;
  copy_to_block(
      h.q + first * b.q.token_stride,
      b.q.token_stride,
      rows,
      s.width,
      s.scale,
      h.queries,
      h.capacity);
  copy_to_block(
      gradient,
      b.gradient.token_stride,
      rows,
      s.value_width,
      1.0f,
      h.gradients,
      h.capacity);
  scores_of(
      s, h.queries, rows, keys, h.key_columns, s.width, h.capacity, h.scores);
  scores_of(
      s,
      h.gradients,
      rows,
      keys,
      h.value_columns,
      s.value_width,
      h.capacity,
      h.slopes);
  for (std::int64_t i = 0; i < rows; ++i)
    slopes_of_row(
        h.scores,
        h.slopes,
        h.capacity,
        i,
        seen(s, first + i, 1),
        keys,
        log_sums[first + i],
        dot(h.y + (first + i) * b.y.token_stride,
            gradient + i * b.gradient.token_stride,
            s.value_width));
  Product p;
  p.rows = rows;
  p.columns = s.width;
  p.depth = keys;
  p.panel_depth = s.keys;
  p.a = h.slopes;
  p.a_capacity = h.capacity;
  p.panels = h.key_panels; // scaled
  p.c = h.dq + first * b.dq.token_stride;
  p.c_stride = b.dq.token_stride;
  multiply(p);
  pack_panels(
      h.q + first * b.q.token_stride,
      b.q.token_stride,
      rows,
      s.width,
      h.query_panels);
  pack_panels(
      gradient,
      b.gradient.token_stride,
      rows,
      s.value_width,
      h.gradient_panels);
  sum_over_queries(
      h, rows, keys, h.slopes, h.query_panels, s.width, true, h.dk);
  sum_over_queries(
      h, rows, keys, h.scores, h.gradient_panels, s.value_width, true, h.dv);
}

void put_rows(
    const float* from,
    std::int64_t rows,
    std::int64_t columns,
    float scale,
    float* to,
    std::int64_t stride) {
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t c = 0; c < columns; ++c)
      to[i * stride + c] = from[i * columns + c] * scale;
}

void attend_head_backward(const AttentionBackward& b, std::int64_t chunk) {
  const AttentionShape& s = b.shape;
  const std::int64_t capacity = query_block(s);
  const std::int64_t key_floats = panel_floats(s.width, s.keys);
  const std::int64_t value_floats = panel_floats(s.value_width, s.keys);
  const std::int64_t query_floats =
      capacity * (whole_vectors(s.width) + whole_vectors(s.value_width));
  float* columns = attention_floats(kKeyColumns, key_floats + value_floats);
  float* panels = attention_floats(kKeyPanels, panel_floats(s.keys, s.width));
  float* totals = attention_floats(kTotals, s.keys * (s.width + s.value_width));
  float* small = attention_floats(kGradients, query_floats);
  float* blocks = attention_floats(
      kQueries,
      block_floats(capacity, s.width) + block_floats(capacity, s.value_width));
  const BackwardHead h{
      s,
      capacity,
      head_of(b.q, chunk, s.heads),
      head_of(b.y, chunk, s.heads),
      head_of(b.gradient, chunk, s.heads),
      head_of(b.dq, chunk, s.heads),
      columns,
      columns + key_floats,
      panels,
      attention_floats(kScores, block_floats(capacity, s.keys)),
      attention_floats(kSlopes, block_floats(capacity, s.keys)),
      blocks,
      small,
      blocks + block_floats(capacity, s.width),
      small + capacity * whole_vectors(s.width),
      totals,
      totals + s.keys * s.width};
  const float* k = head_of(b.k, chunk, s.heads);
  const float* v = head_of(b.v, chunk, s.heads);
  pack_panels_transposed(k, b.k.token_stride, s.width, s.keys, h.key_columns);
  pack_panels_transposed(
      v, b.v.token_stride, s.value_width, s.keys, h.value_columns);
  pack_panels(k, b.k.token_stride, s.keys, s.width, h.key_panels);
  const Vec scale = broadcast(s.scale);
  for (std::int64_t i = 0; i < panel_floats(s.keys, s.width); i += kLanes)
    store(h.key_panels + i, load(h.key_panels + i) * scale);
  for (std::int64_t i = 0; i < s.keys * (s.width + s.value_width); ++i)
    totals[i] = 0.0f;
  for (std::int64_t first = 0; first < s.queries; first += capacity)
    attend_block_backward(b, h, b.log_sums + chunk * s.queries, first);
  put_rows(
      h.dk,
      s.keys,
      s.width,
      s.scale,
      head_of(b.dk, chunk, s.heads),
      b.dk.token_stride);
  put_rows(
      h.dv,
      s.keys,
      s.value_width,
      1.0f,
      head_of(b.dv, chunk, s.heads),
      b.dv.token_stride);
}

std::int64_t attention_cost(const AttentionShape& s) {
  return s.batch * s.heads * s.queries * s.keys * (s.width + s.value_width);
}

void attend_forward(const AttentionForward& f) {
  for_each_chunk_of(
      attention_cost(f.shape),
      f.shape.batch * f.shape.heads,
      [&](std::int64_t chunk) { attend_head(f, chunk); });
}

void attend_backward(const AttentionBackward& b) {
  for_each_chunk_of(
      attention_cost(b.shape),
      b.shape.batch * b.shape.heads,
      [&](std::int64_t chunk) { attend_head_backward(b, chunk); });
}

} // namespace

extern const AttentionTable attention_table;
const AttentionTable attention_table{attend_forward, attend_backward};

} // namespace temper::kernels::TEMPER_TARGET
