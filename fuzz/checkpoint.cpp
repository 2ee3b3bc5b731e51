// The manifest of a checkpoint. Its last line sums up the others and would turn
// every mutant away: the input is also tried with a line that fits it.
#include <cstdlib>

#include "target.h"
#include "temper/base/error.h"
#include "temper/checkpoint/manifest.h"

namespace {

using temper::checkpoint::Manifest;

Manifest sample() {
  Manifest made;
  made.counters.update = 1200;
  made.counters.epoch = 3;
  made.counters.loader = R"({"epoch":3,"samples_consumed":40})";
  made.counters.journal_offset = 4711;
  made.counters.loop = R"({"best":0.5})";
  made.counters.writer = "cpu";
  made.counters.config = "seed = 1\n";
  made.counters.score = 0.25;
  made.tensor_sums = {{"model.w", 1}, {"optimizer.momentum.w", ~0ULL}};
  made.file_bytes = 320;
  made.file_sum = 77;
  return made;
}

void read(const std::string& text) {
  using namespace temper::checkpoint;
  try {
    const Manifest manifest = manifest_from(text);
    if (manifest.format != kFormat) return;
    const std::string again = to_text(manifest);
    if (to_text(manifest_from(again)) != again) std::abort();
  } catch (const temper::Error&) {
  }
}

} // namespace

std::vector<std::string> temper::fuzz::seeds() {
  const std::string text = checkpoint::to_text(sample());
  return {
      text,
      text.substr(0, text.rfind(",\n \"sum\"")),
      R"({"counters":{"epoch":3,"format":1,"journal_offset":4711,)"
      R"("loader":"","loop":"","tensors":1,"update":12,"writer":""},)"
      R"("sum":12964117461097723169})"};
}

extern "C" int LLVMFuzzerTestOneInput(
    const std::uint8_t* data,
    std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  read(text);
  read(temper::checkpoint::with_sum(text));
  return 0;
}
