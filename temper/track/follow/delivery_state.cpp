#include "temper/track/follow/delivery_state.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <nlohmann/json.hpp>

#include "temper/base/digest/hash.h"
#include "temper/base/file/file.h"
#include "temper/base/hex.h"
#include "temper/base/text.h"

namespace temper::track {
namespace {

using nlohmann::json;

} // namespace

std::string FollowState::to_json() const {
  return json{
             {"version", 1},
             {"where", where},
             {"key", key},
             {"memory", memory},
             {"run_id", run_id},
             {"offset", offset},
             {"fingerprint", fingerprint},
             {"ended", ended},
             {"points", points},
             {"high", marks.high},
             {"skip", marks.skip},
             {"rollbacks", marks.rollbacks},
             {"rolled_to", marks.rolled_to},
             {"system_step", marks.system_step},
             {"system_ms", marks.system_ms},
             {"note_ms", marks.note_ms},
             {"incidents", marks.incidents}}
             .dump(1) +
      "\n";
}

FollowState FollowState::from_json(const std::string& text) {
  try {
    const json from = json::parse(text);
    FollowState made;
    made.where = from.at("where");
    made.key = from.at("key");
    made.memory = from.at("memory");
    made.run_id = from.value("run_id", "");
    made.offset = from.at("offset");
    made.fingerprint = from.at("fingerprint");
    made.ended = from.at("ended");
    made.points = from.at("points");
    made.marks.high = from.at("high");
    made.marks.skip = from.at("skip");
    made.marks.rollbacks = from.value("rollbacks", std::int64_t{0});
    made.marks.rolled_to = from.value("rolled_to", std::int64_t{0});
    made.marks.system_step = from.at("system_step");
    made.marks.system_ms = from.at("system_ms");
    made.marks.note_ms = from.at("note_ms");
    made.marks.incidents = from.at("incidents");
    return made;
  } catch (const std::exception& error) {
    throw Error(cat("it is not what temper wrote: ", error.what()));
  }
}

std::optional<FollowState> read_follow_state(
    const std::filesystem::path& file) {
  std::error_code failed;
  if (!std::filesystem::exists(file, failed)) return std::nullopt;
  try {
    return FollowState::from_json(read_small_file(file).value_or(""));
  } catch (const Error& error) {
    throw Error(
        cat("[track] ", file.string(), " cannot be read: ", error.what(), "."),
        "Remove it: the run is found again by its id, and gets what it lacks.");
  }
}

std::optional<std::uint64_t> fingerprint_before(
    const std::filesystem::path& file,
    std::uint64_t offset) {
  constexpr std::uint64_t kMost = 4096;
  const std::uint64_t bytes = std::min(offset, kMost);
  std::string text(bytes, '\0');
  std::ifstream in(file, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(offset - bytes));
  in.read(text.data(), static_cast<std::streamsize>(bytes));
  if (static_cast<std::uint64_t>(in.gcount()) != bytes) return std::nullopt;
  return hash64(text);
}

std::int64_t lines_after(
    const std::filesystem::path& file,
    std::uint64_t offset) {
  std::ifstream in(file, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(offset));
  std::array<char, 1 << 16> piece;
  std::int64_t lines = 0;
  while (in.read(piece.data(), piece.size()), in.gcount() > 0)
    lines += std::count(piece.data(), piece.data() + in.gcount(), '\n');
  return lines;
}

std::string random_key() {
  return random_hex(32);
}

} // namespace temper::track
