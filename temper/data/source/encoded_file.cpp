#include "temper/data/source/encoded_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "temper/base/file/descriptor.h"
#include "temper/base/text.h"

namespace temper::data {
namespace {

class OpenFile {
 public:
  // Opening a pipe that has taken the file's place must not wait.
  explicit OpenFile(const std::string& path)
      : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (!descriptor_.open()) throw BadSample(std::strerror(errno));
  }

  std::uint64_t size() const {
    struct stat status {};
    if (::fstat(descriptor_.get(), &status) != 0)
      throw BadSample(std::strerror(errno));
    if (!S_ISREG(status.st_mode)) throw BadSample("it is not a file");
    return static_cast<std::uint64_t>(status.st_size);
  }
  int descriptor() const {
    return descriptor_.get();
  }

 private:
  Descriptor descriptor_;
};

void fill_bytes(
    const OpenFile& file,
    std::uint64_t offset,
    std::uint64_t count,
    std::vector<std::uint8_t>& bytes) {
  if (count > kMostEncodedBytes)
    throw BadSample(
        cat(bytes_text(count),
            " are more than the limit of ",
            bytes_text(kMostEncodedBytes)));
  bytes.resize(count);
  std::uint64_t done = 0;
  while (done < count) {
    const ssize_t got = ::pread(
        file.descriptor(),
        bytes.data() + done,
        count - done,
        static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw BadSample(std::strerror(errno));
    if (got == 0) throw BadSample("it became shorter while it was read");
    done += static_cast<std::uint64_t>(got);
  }
}

} // namespace

void read_encoded_file(
    const std::string& path,
    std::vector<std::uint8_t>& bytes) {
  const OpenFile file(path);
  fill_bytes(file, 0, file.size(), bytes);
}

void read_encoded_range(
    const std::string& path,
    std::uint64_t offset,
    std::uint64_t count,
    std::vector<std::uint8_t>& bytes) {
  const OpenFile file(path);
  const std::uint64_t size = file.size();
  if (offset > size || count > size - offset)
    throw BadSample("the file is shorter than when it was opened");
  fill_bytes(file, offset, count, bytes);
}

void rethrow_named(const BadSample& error, const std::string& name) {
  throw BadSample(
      cat("[data] cannot decode ", name, ": ", error.what(), "."),
      "Remove it, or run with data.bad = \"skip\".");
}

} // namespace temper::data
