// The pickle machine's bytes, stack and memo: nothing is read beyond the end,
// nothing popped that is not there.
#include <cstring>

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/weights/pickle_machine.h"

namespace temper::weights {
namespace {

// A state dict of 100,000 tensors makes about two million values.
constexpr std::size_t kMostValues = 4'000'000;

} // namespace

void PickleMachine::damaged(const std::string& why) const {
  throw Error(
      cat("[model] cannot read ", file_, ": ", why, "."),
      "Download or save the file again.");
}

std::span<const std::uint8_t> PickleMachine::take(std::uint64_t count) {
  if (count > bytes_.size() - at_)
    damaged(cat("its pickle ends within an instruction at byte ", at_));
  const auto taken = bytes_.subspan(at_, count);
  at_ += count;
  return taken;
}

std::uint64_t PickleMachine::take_unsigned(std::size_t bytes) {
  std::uint64_t number = 0;
  std::memcpy(&number, take(bytes).data(), bytes); // lowest byte first
  return number;
}

std::int64_t PickleMachine::take_long() {
  const auto bytes = take(take_unsigned(1));
  if (bytes.size() > 8) damaged("it has a number of more than 64 bits");
  std::uint64_t number = 0;
  if (!bytes.empty()) {
    if (bytes.back() >= 0x80) number = ~std::uint64_t{0};
    std::memcpy(&number, bytes.data(), bytes.size());
  }
  return static_cast<std::int64_t>(number);
}

std::string_view PickleMachine::take_text(std::uint64_t count) {
  const auto bytes = take(count);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string_view PickleMachine::take_line() {
  const auto* begin = bytes_.data() + at_;
  const auto* end = static_cast<const std::uint8_t*>(
      std::memchr(begin, '\n', bytes_.size() - at_));
  if (end == nullptr) damaged("a name in its pickle has no end");
  const auto text = take_text(static_cast<std::uint64_t>(end - begin));
  take(1);
  return text;
}

PickleValue& PickleMachine::make(Kind kind) {
  if (pickle_.values_.size() >= kMostValues)
    damaged(cat("its pickle makes more than ", kMostValues, " values"));
  auto& value = pickle_.values_.emplace_back();
  value.kind = kind;
  return value;
}

void PickleMachine::push(PickleValue& value) {
  stack_.push_back(&value);
}

PickleValue& PickleMachine::top() {
  if (stack_.size() <= (marks_.empty() ? 0 : marks_.back()))
    damaged(cat("its pickle lacks a value at byte ", at_));
  return *stack_.back();
}

PickleValue& PickleMachine::pop() {
  PickleValue& value = top();
  stack_.pop_back();
  return value;
}

std::vector<PickleValue*> PickleMachine::pop_to_mark() {
  if (marks_.empty()) damaged(cat("its pickle lacks a mark at byte ", at_));
  const auto begin =
      stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
  std::vector<PickleValue*> items(begin, stack_.end());
  stack_.erase(begin, stack_.end());
  marks_.pop_back();
  return items;
}

void PickleMachine::push_items(
    Kind kind,
    const std::vector<PickleValue*>& items) {
  auto& value = make(kind);
  value.items.assign(items.begin(), items.end());
  push(value);
}

void PickleMachine::push_int(std::int64_t number) {
  auto& value = make(Kind::kInt);
  value.number = number;
  push(value);
}

void PickleMachine::push_text(std::string_view text) {
  auto& value = make(Kind::kText);
  value.text = text;
  push(value);
}

void PickleMachine::memoize(std::uint64_t at) {
  memo_[at] = &top();
}

void PickleMachine::recall(std::uint64_t at) {
  const auto found = memo_.find(at);
  if (found == memo_.end())
    damaged(cat("its pickle recalls what it never kept, at byte ", at_));
  push(*found->second);
}

} // namespace temper::weights
