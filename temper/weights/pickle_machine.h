// The stack machine that runs a pickle: the instructions are in pickle.cpp,
// bytes and stack in pickle_stack.cpp, what a file may build in
// pickle_build.cpp.
// Private to weights.
#pragma once

#include <map>

#include "temper/weights/pickle.h"

namespace temper::weights {

class PickleMachine {
 public:
  PickleMachine(
      std::span<const std::uint8_t> bytes,
      const std::string& file,
      Pickle& pickle);
  void run();

 private:
  using Kind = PickleValue::Kind;

  [[noreturn]] void damaged(const std::string& why) const;
  [[noreturn]] void foreign(std::string_view global) const;

  // The bytes of the pickle.
  std::span<const std::uint8_t> take(std::uint64_t count);
  std::uint64_t take_unsigned(std::size_t bytes);
  std::int64_t take_long();
  std::string_view take_text(std::uint64_t count);
  std::string_view take_line();

  // The stack.
  PickleValue& make(Kind kind);
  void push(PickleValue& value);
  PickleValue& pop();
  PickleValue& top();
  std::vector<PickleValue*> pop_to_mark();
  void push_items(Kind kind, const std::vector<PickleValue*>& items);
  void push_int(std::int64_t number);
  void push_text(std::string_view text);
  void memoize(std::uint64_t at);
  void recall(std::uint64_t at);

  bool step(std::uint8_t instruction); // false: not one of these
  bool step_numbers_and_text(std::uint8_t instruction);
  bool step_containers(std::uint8_t instruction);
  bool step_memo(std::uint8_t instruction);

  // The instructions that build values: only known names are taken.
  void push_global(std::string_view module, std::string_view name);
  void persistent();
  void reduce();
  void build();
  PickleValue& rebuild_tensor(const PickleItems& arguments);
  std::vector<std::int64_t> numbers_in(const PickleValue& value) const;

  std::span<const std::uint8_t> bytes_;
  std::size_t at_ = 0;
  const std::string& file_;
  Pickle& pickle_;
  std::vector<PickleValue*> stack_;
  std::vector<std::size_t> marks_;
  std::map<std::uint64_t, PickleValue*> memo_;
  PickleValue* none_ = nullptr;
  PickleValue* true_ = nullptr;
  PickleValue* false_ = nullptr;
};

} // namespace temper::weights
