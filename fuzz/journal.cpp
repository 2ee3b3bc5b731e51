// A journal of any bytes: read, mended, appended to and read again. Whatever it
// held, what is appended is its last event.
#include "temper/journal/journal.h"

#include <cstdlib>

#include "input_file.h"
#include "target.h"
#include "temper/base/error.h"

std::vector<std::string> temper::fuzz::seeds() {
  using journal::Event;
  const std::string step = journal::to_line(
      Event{"step", 1.5, {{"step", std::int64_t{3}}, {"loss", 0.25}}});
  const std::string run = journal::to_line(
      Event{"run", 1, {{"name", std::string("a")}, {"best", true}}});
  return {
      run + "\n" + step + "\n",
      step + "\n" + step.substr(0, step.size() / 2),
      "rubbish\n\n" + run + "\n"};
}

extern "C" int LLVMFuzzerTestOneInput(
    const std::uint8_t* data,
    std::size_t size) {
  using namespace temper;
  static fuzz::InputFile file(".jsonl");
  const auto& path = file.write(data, size);
  try {
    const auto before = journal::read_journal(path);
    journal::Journal journal(path);
    journal.append({"mark", 7, {}});
    const auto after = journal::read_journal(path);
    if (after.size() != before.size() + 1) std::abort();
    if (after.back().kind != "mark") std::abort();
    for (const auto& event : after)
      if (!journal::from_line(journal::to_line(event))) std::abort();
  } catch (const Error&) {
  }
  return 0;
}
