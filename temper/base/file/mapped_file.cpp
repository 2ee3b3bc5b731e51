#include "temper/base/file/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "temper/base/error.h"
#include "temper/base/file/nearest_file.h"
#include "temper/base/text.h"

namespace temper {
namespace {

// `failure` is an errno; 0: none.
std::string hint_for(const std::filesystem::path& path, int failure) {
  if (failure == EACCES) return "Check its permissions.";
  if (failure != ENOENT) return "";
  if (const auto near = nearest_file(path))
    return cat("Did you mean ", *near, "?");
  std::error_code unknown;
  const auto here = std::filesystem::current_path(unknown);
  if (path.is_absolute() || unknown) return "Check the path.";
  return cat("Check the path, which begins in ", here.string(), ".");
}

[[noreturn]] void refuse_to_map(
    const std::filesystem::path& path,
    const char* why,
    int failure = 0) {
  throw Error(
      cat("[files] cannot read ", path.string(), ": ", why, "."),
      hint_for(path, failure));
}

} // namespace

MappedFile::MappedFile(const std::filesystem::path& path) {
  // A pipe in the place of the file must not make this wait.
  const int descriptor =
      ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) {
    const int failure = errno;
    refuse_to_map(path, std::strerror(failure), failure);
  }
  struct stat status {};
  const bool regular =
      ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
  size_ = regular ? static_cast<std::size_t>(status.st_size) : 0;
  void* mapped = nullptr;
  if (size_ > 0)
    mapped = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, descriptor, 0);
  const int failure = errno;
  ::close(descriptor);
  if (!regular) refuse_to_map(path, "it is not a file");
  if (mapped == MAP_FAILED) refuse_to_map(path, std::strerror(failure));
  data_ = static_cast<const std::uint8_t*>(mapped);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::uint8_t*>(data_), size_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

void MappedFile::expect_random_access() const {
  if (data_ != nullptr)
    ::madvise(const_cast<std::uint8_t*>(data_), size_, MADV_RANDOM);
}

} // namespace temper
