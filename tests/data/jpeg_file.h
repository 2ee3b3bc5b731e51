// JPEG files of every kind that cameras and programs write, made from the
// pictures of picture.h.
#pragma once

#include <cstddef>
#include <cstdio> // jpeglib.h needs FILE and does not include it
#include <cstdlib>
#include <vector>

#include <jpeglib.h>

#include "temper/data/sample/image.h"

namespace temper::data {

struct JpegKind {
  int across = 2; // sampling factors of the luma
  int down = 2;
  bool progressive = false;
  bool interleaved = true; // false: a scan for each channel
  bool arithmetic = false;
  int restart_interval = 0; // in MCUs; 0: no restart markers
  int quality = 85;
};

inline std::vector<std::uint8_t> jpeg_file(
    const Image& image,
    const JpegKind& kind) {
  jpeg_compress_struct codec{};
  jpeg_error_mgr errors{};
  codec.err = jpeg_std_error(&errors);
  jpeg_create_compress(&codec);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&codec, &bytes, &size);
  codec.image_width = static_cast<JDIMENSION>(image.width());
  codec.image_height = static_cast<JDIMENSION>(image.height());
  codec.input_components = image.channels();
  codec.in_color_space = image.channels() == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&codec);
  jpeg_set_quality(&codec, kind.quality, TRUE);
  codec.comp_info[0].h_samp_factor = kind.across;
  codec.comp_info[0].v_samp_factor = kind.down;
  codec.restart_interval = static_cast<unsigned>(kind.restart_interval);
  codec.arith_code = kind.arithmetic ? TRUE : FALSE;
  static constexpr jpeg_scan_info kApart[3] = {
      {1, {0}, 0, 63, 0, 0}, {1, {1}, 0, 63, 0, 0}, {1, {2}, 0, 63, 0, 0}};
  if (kind.progressive) {
    jpeg_simple_progression(&codec);
  } else if (!kind.interleaved && image.channels() == 3) {
    codec.scan_info = kApart;
    codec.num_scans = 3;
  }
  jpeg_start_compress(&codec, TRUE);
  while (codec.next_scanline < codec.image_height) {
    JSAMPROW rows[] = {
        const_cast<JSAMPROW>(image.row(static_cast<int>(codec.next_scanline)))};
    jpeg_write_scanlines(&codec, rows, 1);
  }
  jpeg_finish_compress(&codec);
  std::vector<std::uint8_t> file(bytes, bytes + size);
  jpeg_destroy_compress(&codec);
  std::free(bytes);
  return file;
}

} // namespace temper::data
