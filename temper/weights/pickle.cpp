#include "temper/weights/pickle.h"

#include "temper/base/text.h"
#include "temper/weights/pickle_machine.h"

namespace temper::weights {
namespace {

constexpr std::size_t kMostBytes = std::size_t{64} << 20;
constexpr int kNewestProtocol = 5;

} // namespace

Pickle::Pickle(std::span<const std::uint8_t> bytes, const std::string& file) {
  PickleMachine(bytes, file, *this).run();
}

PickleMachine::PickleMachine(
    std::span<const std::uint8_t> bytes,
    const std::string& file,
    Pickle& pickle)
    : bytes_(bytes), file_(file), pickle_(pickle) {
  if (bytes.size() > kMostBytes)
    damaged(cat("its pickle has ", bytes_text(bytes.size())));
  none_ = &make(Kind::kNone);
  true_ = &make(Kind::kBool);
  true_->number = 1;
  false_ = &make(Kind::kBool);
}

bool PickleMachine::step_numbers_and_text(std::uint8_t instruction) {
  switch (instruction) {
    case 'N':
      push(*none_);
      return true;
    case 0x88:
      push(*true_);
      return true;
    case 0x89:
      push(*false_);
      return true;
    case 'J':
      push_int(static_cast<std::int32_t>(take_unsigned(4)));
      return true;
    case 'K':
      push_int(static_cast<std::int64_t>(take_unsigned(1)));
      return true;
    case 'M':
      push_int(static_cast<std::int64_t>(take_unsigned(2)));
      return true;
    case 0x8a:
      push_int(take_long());
      return true;
    case 'G': // a learning rate, say: nobody needs its value
      take(8);
      push(make(Kind::kFloat));
      return true;
    case 'X':
    case 'T':
    case 'B':
      push_text(take_text(take_unsigned(4)));
      return true;
    case 0x8c:
    case 'U':
    case 'C':
      push_text(take_text(take_unsigned(1)));
      return true;
    case 0x8d:
      push_text(take_text(take_unsigned(8)));
      return true;
    default:
      return false;
  }
}

bool PickleMachine::step_containers(std::uint8_t instruction) {
  const auto add = [&](const std::vector<PickleValue*>& items, bool pairs) {
    PickleValue& to = top();
    const Kind wanted = pairs ? Kind::kDict : Kind::kList;
    if (to.kind != wanted && to.kind != Kind::kOpaque)
      damaged(cat("its pickle adds to what holds nothing, at byte ", at_));
    if (pairs && items.size() % 2 != 0)
      damaged(cat("its pickle has a key without a value at byte ", at_));
    to.items.insert(to.items.end(), items.begin(), items.end());
  };
  const auto last = [&](std::size_t count) {
    std::vector<PickleValue*> items(count);
    for (std::size_t i = count; i > 0; --i)
      items[i - 1] = &pop();
    return items;
  };
  switch (instruction) {
    case '(':
      marks_.push_back(stack_.size());
      return true;
    case '1':
      pop_to_mark();
      return true;
    case '0':
      pop();
      return true;
    case ')':
      push(make(Kind::kTuple));
      return true;
    case 't':
      push_items(Kind::kTuple, pop_to_mark());
      return true;
    case 0x85:
    case 0x86:
    case 0x87:
      push_items(Kind::kTuple, last(instruction - 0x84U));
      return true;
    case ']':
      push(make(Kind::kList));
      return true;
    case 'a':
      add(last(1), false);
      return true;
    case 'e':
      add(pop_to_mark(), false);
      return true;
    case '}':
      push(make(Kind::kDict));
      return true;
    case 's':
      add(last(2), true);
      return true;
    case 'u':
      add(pop_to_mark(), true);
      return true;
    case 0x8f: // sets
      push(make(Kind::kOpaque));
      return true;
    case 0x90:
      add(pop_to_mark(), false);
      return true;
    default:
      return false;
  }
}

bool PickleMachine::step_memo(std::uint8_t instruction) {
  switch (instruction) {
    case 'q':
      memoize(take_unsigned(1));
      return true;
    case 'r':
      memoize(take_unsigned(4));
      return true;
    case 0x94:
      memoize(memo_.size());
      return true;
    case 'h':
      recall(take_unsigned(1));
      return true;
    case 'j':
      recall(take_unsigned(4));
      return true;
    default:
      return false;
  }
}

bool PickleMachine::step(std::uint8_t instruction) {
  switch (instruction) {
    case 0x80:
      if (take_unsigned(1) > kNewestProtocol)
        damaged("its pickle is of a protocol that temper does not know");
      return true;
    case 0x95: // a frame: its length
      take(8);
      return true;
    case 'c': {
      const auto module = take_line();
      push_global(module, take_line());
      return true;
    }
    case 0x93: {
      const auto& name = pop();
      const auto& module = pop();
      if (name.kind != Kind::kText || module.kind != Kind::kText)
        damaged("its pickle names a class without a name");
      push_global(module.text, name.text);
      return true;
    }
    case 'Q':
      persistent();
      return true;
    case 'R':
      reduce();
      return true;
    case 'b':
      build();
      return true;
    default:
      return step_numbers_and_text(instruction) ||
          step_containers(instruction) || step_memo(instruction);
  }
}

void PickleMachine::run() {
  for (;;) {
    const auto instruction = static_cast<std::uint8_t>(take_unsigned(1));
    if (instruction == '.') break;
    if (!step(instruction))
      damaged(
          cat("its pickle has an instruction (",
              static_cast<int>(instruction),
              ") that state dicts do not use, at byte ",
              at_ - 1));
  }
  if (stack_.size() != 1 || !marks_.empty())
    damaged("its pickle does not end with one value");
  pickle_.value_ = stack_.back();
}

} // namespace temper::weights
