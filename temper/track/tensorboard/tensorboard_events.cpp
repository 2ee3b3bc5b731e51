#include "temper/track/tensorboard/tensorboard_events.h"

#include <bit>
#include <cmath>

#include "temper/base/byte_order.h"
#include "temper/base/digest/crc32c.h"
#include "temper/base/text.h"
#include "temper/track/tensorboard/protobuf.h"

namespace temper::track {
namespace {

enum DataType { kFloat = 1, kDouble = 2, kString = 7 };
enum DataClass { kScalar = 1, kTensor = 2, kBlobs = 3 };

std::string checksum(const std::string& bytes) {
  const std::uint32_t crc = crc32c(
      {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
  return little_endian_text(mask_crc32c(crc), 4);
}

Message event(std::int64_t time_ms, std::int64_t step) {
  Message made;
  made.number(1, static_cast<double>(time_ms) / 1000);
  if (step != 0) made.integer(2, step);
  return made;
}

std::string with_value(Message event, const Message& value) {
  Message summary;
  summary.message(1, value);
  event.message(5, summary);
  return event.bytes();
}

Message plugin_metadata(
    const std::string& plugin,
    const std::string& content,
    DataClass data) {
  Message plugin_data;
  plugin_data.text(1, plugin);
  if (!content.empty()) plugin_data.text(2, content);
  Message made;
  made.message(1, plugin_data).integer(4, data);
  return made;
}

Message tensor(DataType type, std::int64_t size) {
  Message dimension;
  dimension.integer(1, size);
  Message shape;
  shape.message(2, dimension);
  Message made;
  made.integer(1, type).message(2, shape);
  return made;
}

// The HPARAMS page knows three kinds of values.
struct Setting {
  enum Kind { text = 1, flag = 2, number = 3 } kind = text;
  double value = 0;
};

Setting setting_of(const std::string& value) {
  if (value == "true" || value == "false")
    return {Setting::flag, value == "true" ? 1.0 : 0.0};
  const auto number = parse_double(value);
  return number && std::isfinite(*number) ? Setting{Setting::number, *number}
                                          : Setting{};
}

// `field` says which of the page's records it is: 2 the experiment, 3 the
// start of a session, 4 its end.
std::string hparams_record(
    const std::string& tag,
    int field,
    const Message& record,
    std::int64_t time_ms) {
  Message content;
  content.integer(1, 0).message(field, record);
  Message value;
  value.text(1, tag)
      .message(8, tensor(kFloat, 0))
      .message(9, plugin_metadata("hparams", content.bytes(), kTensor));
  return with_value(event(time_ms, 0), value);
}

std::uint32_t big_endian(const std::string& bytes, std::size_t at) {
  return read_big_endian<std::uint32_t>(
      reinterpret_cast<const std::uint8_t*>(bytes.data()) + at);
}

} // namespace

std::string event_record(const std::string& event) {
  const std::string length = little_endian_text(event.size(), 8);
  return length + checksum(length) + event + checksum(event);
}

std::string version_event(std::int64_t time_ms) {
  return event(time_ms, 0).text(3, "brain.Event:2").bytes();
}

std::string scalar_event(const Point& point) {
  Message value;
  value.text(1, point.key).number32(2, static_cast<float>(point.value));
  return with_value(event(point.time_ms, point.step), value);
}

std::string text_event(const Note& note) {
  Message value;
  value.text(1, note.key)
      .message(8, tensor(kString, 1).text(8, note.text))
      .message(9, plugin_metadata("text", "", kTensor));
  return with_value(event(note.time_ms, note.step), value);
}

std::string image_event(
    const std::string& tag,
    const std::string& png,
    std::int64_t step,
    std::int64_t time_ms) {
  constexpr std::size_t kHeader = 24;
  if (png.size() < kHeader || png.compare(1, 3, "PNG") != 0) return "";
  Message value;
  value.text(1, tag)
      .message(
          8,
          tensor(kString, 3)
              .text(8, cat(big_endian(png, 16)))
              .text(8, cat(big_endian(png, 20)))
              .text(8, png))
      .message(9, plugin_metadata("images", "", kBlobs));
  return with_value(event(time_ms, step), value);
}

std::string histogram_event(
    const Histogram& histogram,
    std::int64_t step,
    std::int64_t time_ms) {
  const auto dimension = [](std::size_t size) {
    Message made;
    made.integer(1, static_cast<std::int64_t>(size));
    return made;
  };
  Message shape;
  shape.message(2, dimension(histogram.buckets.size()))
      .message(2, dimension(3));
  std::string content;
  for (const auto& bucket : histogram.buckets)
    for (const double number : {bucket.left, bucket.right, bucket.count})
      content += little_endian_text(std::bit_cast<std::uint64_t>(number), 8);
  Message tensor;
  tensor.integer(1, kDouble).message(2, shape).text(4, content);
  Message value;
  value.text(1, histogram.key)
      .message(8, tensor)
      .message(9, plugin_metadata("histograms", "", kTensor));
  return with_value(event(time_ms, step), value);
}

std::string hparams_experiment_event(const RunFacts& run) {
  Message experiment;
  experiment.number(3, static_cast<double>(run.start_ms) / 1000);
  for (const Pair& param : run.params) {
    Message info;
    info.text(1, param.key).integer(4, setting_of(param.value).kind);
    experiment.message(4, info);
  }
  for (const char* metric : {"val_accuracy", "val_loss", "train_loss"}) {
    Message name;
    name.text(2, metric);
    Message info;
    info.message(1, name);
    experiment.message(5, info);
  }
  return hparams_record("_hparams_/experiment", 2, experiment, run.start_ms);
}

std::string hparams_event(const RunFacts& run) {
  Message start;
  for (const Pair& param : run.params) {
    const Setting setting = setting_of(param.value);
    Message value;
    if (setting.kind == Setting::number)
      value.number(2, setting.value);
    else if (setting.kind == Setting::flag)
      value.integer(4, setting.value > 0 ? 1 : 0);
    else
      value.text(3, param.value);
    Message entry;
    entry.text(1, param.key).message(2, value);
    start.message(1, entry);
  }
  start.number(5, static_cast<double>(run.start_ms) / 1000);
  return hparams_record("_hparams_/session_start_info", 3, start, run.start_ms);
}

std::string hparams_end_event(const StatusChange& change) {
  Message end;
  end.integer(1, change.status == Status::finished ? 1 : 2)
      .number(2, static_cast<double>(change.time_ms) / 1000);
  return hparams_record("_hparams_/session_end_info", 4, end, change.time_ms);
}

} // namespace temper::track
