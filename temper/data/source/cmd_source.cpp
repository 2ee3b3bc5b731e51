#include "temper/data/source/cmd_source.h"

#include <algorithm>
#include <array>
#include <utility>

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/data/format/tar_header.h"

namespace temper::data {
namespace {

constexpr std::uint64_t kMostMember = std::uint64_t{256} << 20;
constexpr std::size_t kPiece = 1 << 20;

bool names_image(const std::string& kind) {
  constexpr std::array<const char*, 9> kKinds{
      "jpg", "jpeg", "png", "webp", "bmp", "ppm", "pgm", "pnm", "img"};
  return std::find(kKinds.begin(), kKinds.end(), lower(kind)) != kKinds.end();
}

std::string_view text_in(const std::vector<std::uint8_t>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

} // namespace

CmdSource::CmdSource(CmdOptions options) : options_(std::move(options)) {
  if (options_.info.name.empty())
    options_.info.name = cat("cmd:", options_.command);
  if (trim(options_.command).empty())
    throw Error(
        "[data] cmd: names no program.", "Write cmd:PROGRAM ARGUMENTS.");
  check(
      options_.decode && options_.info.input == Input::image &&
          options_.info.target == Target::label,
      "cmd: gives images with a label");
}

CmdSource::~CmdSource() = default;

// The program starts with the first sample: load() may come before.
void CmdSource::restart(std::uint64_t seed, std::uint32_t epoch) {
  child_.reset();
  ahead_.reset();
  interrupted_ = false;
  ended_ = false;
  seed_ = seed;
  epoch_ = epoch;
  samples_ = 0;
}

std::optional<std::string> CmdSource::save() const {
  return cat(samples_);
}

void CmdSource::load(const std::string& state) {
  const auto samples = parse_int(state);
  if (!samples || *samples < 0)
    throw Error(
        cat("[data] the saved place in ", info().name, " cannot be read."));
  child_.reset();
  samples_ = *samples;
}

void CmdSource::interrupt() {
  interrupted_ = true;
}

void CmdSource::run() {
  const Environment extra{
      {"TEMPER_SEED", cat(seed_)},
      {"TEMPER_EPOCH", cat(epoch_)},
      {"TEMPER_START", cat(samples_)}};
  child_ = std::make_unique<ChildOutput>(
      options_.command, extra, options_.patience_s, interrupted_);
  auto first = std::make_unique<Member>();
  if (read_member(*first))
    ahead_ = std::move(first);
  else if (samples_ == 0)
    throw Error(
        cat("[data] the program of ", info().name, " wrote no samples."));
}

bool CmdSource::next(Sample& sample) {
  if (!child_ && !ended_) run();
  if (!ahead_) return false;
  const std::string key = ahead_->key;
  ++samples_;
  bool label = false;
  bool image = false;
  std::string trouble;
  // All members of the sample are read, also of a bad one.
  while (ahead_ && ahead_->key == key) {
    try {
      use(*ahead_, sample, label, image);
    } catch (const BadSample& bad) {
      if (trouble.empty()) trouble = bad.what();
    }
    if (!read_member(*ahead_)) ahead_.reset();
  }
  if (!trouble.empty()) {
    constexpr std::string_view kRoom = "[data] ";
    if (trouble.starts_with(kRoom)) trouble.erase(0, kRoom.size());
    throw BadSample(cat(kRoom, key, ": ", trouble));
  }
  if (!image) throw BadSample(cat("[data] ", key, " has no image."));
  if (!label) throw BadSample(cat("[data] ", key, " has no label (.cls)."));
  return true;
}

void CmdSource::use(
    const Member& member,
    Sample& sample,
    bool& label,
    bool& image) {
  if (member.kind == "cls") {
    const auto number = parse_int(trim(text_in(member.bytes)));
    if (!number) throw BadSample("its label is not a number.");
    sample.label = *number;
    label = true;
  } else if (names_image(member.kind)) {
    options_.decode(member.bytes, sample);
    image = true;
  }
}

// False at the end of the archive.
bool CmdSource::read_member(Member& member) {
  std::array<std::uint8_t, kTarBlock> block{};
  TarHeaders headers;
  for (;;) {
    if (!read_block(block)) break;
    if (is_empty_block(block)) break;
    const auto header = headers.next(block);
    if (!header || !header->size)
      child_->refuse("it does not write a tar archive");
    if (header->is_note()) {
      if (*header->size > kMostTarNote)
        child_->refuse("a name of absurd length");
      read_contents(*header->size, member.bytes);
      if (!headers.take_note(*header, text_in(member.bytes)))
        child_->refuse("a damaged pax record");
      continue;
    }
    const std::string& name = header->name;
    if (*header->size > kMostMember)
      child_->refuse(
          cat("its member ", name, " has ", bytes_text(*header->size)));
    read_contents(*header->size, member.bytes);
    if (!header->is_file()) continue;
    const auto slash = name.rfind('/');
    const auto dot = name.find('.', slash == std::string::npos ? 0 : slash + 1);
    member.key = name.substr(0, dot);
    member.kind = dot == std::string::npos ? "" : name.substr(dot + 1);
    return true;
  }
  ended_ = true;
  child_->expect_success();
  child_.reset();
  return false;
}

// False at the end of the output, where an archive may end too.
bool CmdSource::read_block(std::span<std::uint8_t> block) {
  const std::size_t got = child_->read(block.data(), block.size());
  if (got == 0) return false;
  if (got < block.size()) {
    child_->expect_success();
    child_->refuse("its archive ends in the middle");
  }
  return true;
}

// Memory follows what has come, not what a header announces.
void CmdSource::read_contents(
    std::uint64_t size,
    std::vector<std::uint8_t>& bytes) {
  bytes.clear();
  const std::uint64_t padded = whole_blocks(size);
  while (bytes.size() < padded) {
    const std::size_t have = bytes.size();
    const auto piece = static_cast<std::size_t>(
        std::min<std::uint64_t>(kPiece, padded - have));
    bytes.resize(have + piece);
    if (child_->read(bytes.data() + have, piece) < piece) {
      child_->expect_success();
      child_->refuse("its archive ends in the middle");
    }
  }
  bytes.resize(static_cast<std::size_t>(size));
}

} // namespace temper::data
