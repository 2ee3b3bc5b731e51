#include "temper/checkpoint/manifest.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "temper/base/digest/hash.h"
#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/graph/ir/dtype.h"

namespace temper::checkpoint {
namespace {

using nlohmann::json;

std::uint64_t sum_in(const json& value) {
  const std::string& text = value.get_ref<const std::string&>();
  std::uint64_t sum = 0;
  for (const char digit : text)
    sum = sum << 4 |
        static_cast<std::uint64_t>(
              digit <= '9' ? digit - '0' : digit - 'a' + 10);
  if (hex_text(sum) != text) throw Error("a checksum in state.json is damaged");
  return sum;
}

[[noreturn]] void refuse_newer(int format) {
  throw Error(
      cat("a newer temper wrote it (format ",
          format,
          ", this one reads up to ",
          kFormat,
          ")"));
}

void read_counters(const json& from, Snapshot& into) {
  into.update = from.at("update");
  into.epoch = from.at("epoch");
  into.loader = from.at("loader");
  into.journal_offset = from.at("journal_offset");
  into.loop = from.at("loop");
  into.writer = from.at("writer");
}

Manifest read_first_format(const json& file) {
  const json& counters = file.at("counters");
  Manifest made;
  made.format = counters.at("format");
  if (made.format > kFormat) refuse_newer(made.format);
  if (made.format != 1 || !file.contains("sum") ||
      file.at("sum").get<std::uint64_t>() != hash64(counters.dump()))
    throw Error("state.json has another checksum");
  read_counters(counters, made.counters);
  made.all_tensors_sum = counters.at("tensors");
  return made;
}

Manifest read_second_format(const json& file, const std::string& text) {
  Manifest made;
  made.format = file.at("format");
  if (made.format > kFormat) refuse_newer(made.format);
  const std::size_t tail = with_sum("").size();
  const std::string body =
      text.substr(0, text.size() - std::min(text.size(), tail));
  if (made.format != kFormat || text != with_sum(body))
    throw Error("state.json has another checksum");
  read_counters(file, made.counters);
  made.counters.config = file.at("config");
  if (file.contains("score")) made.counters.score = file.at("score");
  made.counters.best = file.value("best", false);
  made.number = file.value("number", std::uint64_t{0});
  made.file_bytes = file.at("file").at("bytes");
  made.file_sum = sum_in(file.at("file").at("sum"));
  for (const auto& [name, sum] : file.at("tensors").items())
    made.tensor_sums[name] = sum_in(sum);
  return made;
}

} // namespace

std::uint64_t sum_of(const std::string& name, const graph::TensorData& tensor) {
  Hasher hasher;
  hasher.add(name);
  hasher.add(graph::name_of(tensor.dtype));
  for (const std::int64_t size : tensor.sizes)
    hasher.add(static_cast<std::uint64_t>(size));
  hasher.add(tensor.byte_count);
  hasher.add(tensor.bytes.get(), tensor.byte_count);
  return hasher.value();
}

std::uint64_t all_tensors_sum(const graph::Weights& tensors) {
  Hasher hasher;
  for (const auto& [name, tensor] : tensors) {
    hasher.add(name);
    hasher.add(static_cast<std::uint64_t>(tensor.dtype));
    for (const std::int64_t size : tensor.sizes)
      hasher.add(static_cast<std::uint64_t>(size));
    hasher.add(tensor.byte_count);
    hasher.add(tensor.bytes.get(), tensor.byte_count);
  }
  return hasher.value();
}

std::string with_sum(const std::string& body) {
  return cat(body, ",\n \"sum\": \"", hex_text(hash64(body)), "\"\n}\n");
}

std::string to_text(const Manifest& manifest) {
  const Snapshot& from = manifest.counters;
  json sums = json::object();
  for (const auto& [name, sum] : manifest.tensor_sums)
    sums[name] = hex_text(sum);
  json made{
      {"format", kFormat},
      {"number", manifest.number},
      {"update", from.update},
      {"epoch", from.epoch},
      {"loader", from.loader},
      {"journal_offset", from.journal_offset},
      {"loop", from.loop},
      {"writer", from.writer},
      {"config", from.config},
      {"file",
       {{"bytes", manifest.file_bytes}, {"sum", hex_text(manifest.file_sum)}}},
      {"tensors", sums}};
  if (from.score && std::isfinite(*from.score)) made["score"] = *from.score;
  if (from.best) made["best"] = true;
  std::string body = made.dump(1, ' ', false, json::error_handler_t::replace);
  body.resize(body.size() - 2); // its last line, "\n}"
  return with_sum(body);
}

Manifest manifest_from(const std::string& text) {
  const json file = json::parse(text, nullptr, false);
  if (!file.is_object()) throw Error("state.json is damaged");
  try {
    return file.contains("counters") ? read_first_format(file)
                                     : read_second_format(file, text);
  } catch (const json::exception&) {
    throw Error("state.json is damaged");
  }
}

} // namespace temper::checkpoint
