#include "temper/train/optimizer/retry_update.h"

#include <array>
#include <chrono>
#include <exception>
#include <thread>

#include "temper/base/text.h"
#include "temper/libtorch/messages.h"
#include "temper/libtorch/out_of_memory.h"

namespace temper::train {
namespace {

using std::chrono::milliseconds;
constexpr std::array kPauses{
    milliseconds(0),
    milliseconds(10),
    milliseconds(100),
    milliseconds(900)};

[[noreturn]] void give_up(const std::string& why) {
  throw HalfDone(
      cat("[train] an update failed half way: ",
          libtorch::first_line(why),
          "."),
      "Resume the run from its last checkpoint; if memory ran out, other "
      "programs may have taken it.");
}

} // namespace

void roll_parts_forward(
    bool touched,
    const std::function<void()>& part,
    const std::function<void()>& free) {
  for (const auto pause : kPauses) {
    try {
      return part();
    } catch (const std::exception& error) {
      if (!libtorch::is_out_of_memory(error)) {
        if (touched) give_up(error.what());
        throw;
      }
    }
    free();
    std::this_thread::sleep_for(pause);
  }
  try {
    part();
  } catch (const std::exception& error) {
    if (touched) give_up(error.what());
    throw;
  }
}

} // namespace temper::train
