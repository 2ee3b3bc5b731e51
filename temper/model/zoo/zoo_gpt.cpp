// A character-level transformer with GPT-2's layout and names (Radford et al.,
// 2019): 4 blocks of 4 heads and 128 features, of nn.Linear's weight layout.
// The layer that scores the next character shares its weight with the embedding
// of characters. Scores come as [batch, vocabulary, context], the order in
// which cross entropy wants its classes.
#include "temper/base/text.h"
#include "temper/model/zoo/init.h"
#include "temper/model/zoo/zoo_families.h"

namespace temper::model {
namespace {

using graph::Builder;
using graph::Value;

constexpr std::int64_t kGptFeatures = 128;
constexpr std::int64_t kGptHeads = 4;
constexpr int kGptBlocks = 4;
constexpr double kGptEps = 1e-5;

Value decoder_block(
    Builder& b,
    const std::string& path,
    Value x,
    double dropout) {
  const graph::Linear onto_residual{
      .out = kGptFeatures, .weight = gpt_residual(kGptBlocks)};

  Value y = b.layer_norm(path + ".ln_1", x, kGptEps);
  y = b.linear(path + ".attn.c_attn", y, {.out = 3 * kGptFeatures});
  y = attend(
      b, path + ".attn", y, kGptHeads, {.dropout = dropout, .causal = true});
  y = b.linear(path + ".attn.c_proj", y, onto_residual);
  y = b.dropout(path + ".attn.resid_dropout", y, dropout);
  x = b.add(path, x, y);

  y = b.layer_norm(path + ".ln_2", x, kGptEps);
  y = b.linear(path + ".mlp.c_fc", y, {.out = 4 * kGptFeatures});
  y = b.gelu(path + ".mlp.gelu", y);
  y = b.linear(path + ".mlp.c_proj", y, onto_residual);
  y = b.dropout(path + ".mlp.dropout", y, dropout);
  return b.add(path, x, y);
}

} // namespace

graph::Blueprint gpt_tiny(const ZooSettings& settings) {
  Builder b = start(settings, gpt_fills());
  const Value text = b.input("x", graph::DType::kInt64, {settings.context});
  const Value characters = b.parameter(
      "transformer.wte.weight",
      {settings.vocabulary, kGptFeatures},
      gpt_normal());
  // Places 0, 1, 2 ... look up the rows of their table in order: the table.
  const Value places = b.parameter(
      "transformer.wpe.weight", {settings.context, kGptFeatures}, gpt_normal());

  Value x = b.embedding("transformer.wte", text, characters);
  x = b.add("", x, places);
  x = b.dropout("transformer.drop", x, settings.dropout);
  for (int i = 0; i < kGptBlocks; ++i)
    x = decoder_block(b, cat("transformer.h.", i), x, settings.dropout);
  x = b.layer_norm("transformer.ln_f", x, kGptEps);
  x = b.tied_linear("lm_head", x, characters);
  return b.finish(b.transpose("", x, 1, 2));
}

} // namespace temper::model
