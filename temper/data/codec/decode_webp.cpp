#include <webp/decode.h>

#include "temper/data/codec/decode_formats.h"

namespace temper::data {
namespace {

WebPBitstreamFeatures read_features(Bytes bytes) {
  WebPBitstreamFeatures features;
  switch (WebPGetFeatures(bytes.data(), bytes.size(), &features)) {
    case VP8_STATUS_OK:
      break;
    case VP8_STATUS_NOT_ENOUGH_DATA:
      refuse_truncated(bytes);
    default:
      refuse("damaged WebP header");
  }
  if (features.has_animation) refuse("animated WebP is not supported");
  return features;
}

} // namespace

void decode_webp(Bytes bytes, const DecodeOptions& options, Image& out) {
  const WebPBitstreamFeatures features = read_features(bytes);
  check_size(features.width, features.height, options);
  out.reshape(features.width, features.height, 3);

  WebPDecoderConfig config;
  if (!WebPInitDecoderConfig(&config)) refuse("libwebp could not start");
  config.output.colorspace = MODE_RGB;
  config.output.is_external_memory = 1;
  config.output.u.RGBA.rgba = out.pixels();
  config.output.u.RGBA.stride = static_cast<int>(out.row_bytes());
  config.output.u.RGBA.size = out.bytes();
  const VP8StatusCode status = WebPDecode(bytes.data(), bytes.size(), &config);
  WebPFreeDecBuffer(&config.output);
  if (status == VP8_STATUS_NOT_ENOUGH_DATA || status == VP8_STATUS_SUSPENDED)
    refuse_truncated(bytes);
  if (status != VP8_STATUS_OK) refuse("damaged WebP");
}

} // namespace temper::data
