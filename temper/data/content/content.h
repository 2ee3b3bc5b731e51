// The contents of a source's files: a sum of each file's bytes, and one number
// for all of them that is the same wherever the files lie and whenever they
// were written. A resume compares it, kept features have it in their key, and
// the sums name the file that changed.
//
// Files of more than 8 GiB together are not read for it. Their sums are of
// the times and the inode then: they tell a write on this machine, but not
// whether a copy is the same.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace temper::data {

struct ContentFile {
  std::string name; // within the source: "cat/12.jpg"
  std::string path; // on the disk
  // Given: what counts instead of the file's bytes, such as unpacked ones.
  std::span<const std::uint8_t> bytes = {};
};

struct FilePrint {
  std::uint64_t bytes = 0;
  std::uint64_t sum = 0;
  std::int64_t modified_ns = 0;
};

struct ContentOptions {
  std::uint64_t most_bytes = std::uint64_t{8} << 30; // to be read
  // Less than both is read faster than remembered.
  std::uint64_t remembered_bytes = std::uint64_t{64} << 20;
  std::size_t remembered_files = 512;
  std::filesystem::path memory; // a folder; empty: nothing is remembered
  std::int64_t now_ns = 0; // 0: by the clock
};

// The default options: sums are remembered in the cache directory of this
// process's environment.
ContentOptions usual_content_options();

class Content {
 public:
  // `file` is called from several threads at once.
  Content(
      std::size_t count,
      std::function<ContentFile(std::size_t)> file,
      ContentOptions options = usual_content_options());

  std::size_t size() const {
    return count_;
  }
  ContentFile file(std::size_t index) const {
    return file_(index);
  }
  // The sum of each file, in order. The first call reads the files.
  const std::vector<FilePrint>& prints() const;
  // False: there is too much to read, see above.
  bool was_read() const;

  // No file was written since it was read, by the time of each.
  bool is_unchanged() const;

  // One number for bytes and order; for names and sizes when none was read.
  std::uint64_t value() const;
  // Differs after any write to a file, too, when none was read.
  std::uint64_t value_here() const;

 private:
  void read() const;
  void sum_up() const;

  std::size_t count_;
  std::function<ContentFile(std::size_t)> file_;
  ContentOptions options_;
  mutable std::once_flag once_;
  mutable std::vector<FilePrint> prints_;
  mutable bool was_read_ = true;
  mutable std::uint64_t value_ = 0;
  mutable std::uint64_t value_here_ = 0;
};

} // namespace temper::data
