// The live line of `temper train` in a window that is made narrower and wider.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/cli/on_terminal.h"
#include "tests/emulator.h"
#include "tests/temp_folder.h"

namespace temper {
namespace {

// What a terminal shows: lines that are laid out anew over as many rows as they
// need when its width changes, the cursor staying with its letter, as tmux,
// VTE, kitty and Terminal.app do it.
class Screen {
 public:
  explicit Screen(std::size_t columns) : columns_(columns) {}

  void resize(std::size_t columns) {
    columns_ = columns;
  }
  void write(const std::string& text) {
    for (const char c : text)
      see(c);
  }
  std::size_t lines_with(const std::string& text) const {
    return static_cast<std::size_t>(
        std::count_if(lines_.begin(), lines_.end(), [&](const auto& line) {
          return contains(line, text);
        }));
  }
  std::string shown() const {
    return join(lines_, "\n");
  }
  // How often the live line was cleared, to be drawn again.
  int drawn() const {
    return drawn_;
  }

 private:
  void see(char c) {
    if (!sequence_.empty()) {
      sequence_ += c;
      if (sequence_.size() > 2 && c >= '@') obey(std::exchange(sequence_, ""));
    } else if (c == '\033') {
      sequence_ = c;
    } else if (c == '\r') {
      at_ = row_begin();
    } else if (c == '\n') {
      if (++line_ == lines_.size()) lines_.emplace_back();
      at_ = 0;
    } else {
      put(c);
    }
  }
  std::size_t row_begin() const {
    const bool behind_the_last = at_ > 0 && at_ % columns_ == 0;
    return (behind_the_last ? at_ - 1 : at_) / columns_ * columns_;
  }
  void put(char c) {
    std::string& line = lines_[line_];
    if (!wraps_ && at_ >= columns_) at_ = columns_ - 1;
    if (line.size() <= at_) line.resize(at_ + 1, ' ');
    line[at_++] = c;
  }
  void obey(const std::string& sequence) {
    if (sequence == "\033[J" || sequence == "\033[K") ++drawn_;
    if (sequence == "\033[?7l") {
      wraps_ = false;
    } else if (sequence == "\033[?7h") {
      wraps_ = true;
    } else if (sequence == "\033[J") {
      lines_.resize(line_ + 1);
      lines_[line_].resize(std::min(lines_[line_].size(), at_));
    } else if (sequence == "\033[K") { // to the end of this row
      std::string& line = lines_[line_];
      for (std::size_t i = at_; i < line.size() && i < row_begin() + columns_;
           ++i)
        line[i] = ' ';
    } else {
      ADD_FAILURE() << "the screen does not know " << sequence.substr(1);
    }
  }

  std::size_t columns_;
  std::vector<std::string> lines_{""};
  std::size_t line_ = 0;
  std::size_t at_ = 0;
  bool wraps_ = true;
  std::string sequence_;
  int drawn_ = 0;
};

TEST(ResizedWindow, LeavesNothingOfEarlierLiveLinesBehind) {
  const tests::TempFolder folder;
  std::vector<std::string> words = tests::before_program();
  words.insert(
      words.end(),
      {TEMPER_PROGRAM,
       "train",
       "--data",
       "synthetic:rows=4000000,features=4,classes=2",
       "--batch",
       "1"});
  for (const std::string& each :
       {std::string("plan.seconds=0"),
        std::string("model.widths=[4]"),
        std::string("track.mlflow=off"),
        std::string("loader.workers=1"),
        "run.dir=" + folder.text("runs")})
    words.insert(words.end(), {"--set", each});
  // The one field that every live line has, however narrow.
  const std::string kSteps = "/4000000";
  constexpr int kBegin = 120;
  tests::OnTerminal temper(words, {{"TERM", "xterm"}}, kBegin);
  if (!temper.started()) GTEST_SKIP() << "there are no terminals here";
  Screen screen(kBegin);
  const auto draw = [&](int times) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(2);
    const int before = screen.drawn();
    while (
        (screen.drawn() < before + times || screen.lines_with(kSteps) == 0) &&
        std::chrono::steady_clock::now() < end)
      screen.write(temper.read(std::chrono::milliseconds(100)));
    return screen.drawn() >= before + times;
  };
  ASSERT_TRUE(draw(3)) << screen.shown();
  for (const int columns : {60, 40, 25, 100}) {
    temper.resize(columns);
    screen.resize(static_cast<std::size_t>(columns));
    ASSERT_TRUE(draw(4)) << screen.shown();
    EXPECT_EQ(screen.lines_with(kSteps), 1U) << columns << " columns:\n"
                                             << screen.shown();
  }
}

} // namespace
} // namespace temper
