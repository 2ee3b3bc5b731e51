#include "temper/supervise/shared_page.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <utility>

#include "temper/base/text.h"

namespace temper::supervise {
namespace {

void* map(int descriptor) {
  void* data = ::mmap(
      nullptr,
      SharedPage::kBytes,
      PROT_READ | PROT_WRITE,
      MAP_SHARED,
      descriptor,
      0);
  return data == MAP_FAILED ? nullptr : data;
}

// macOS takes no more than 31 characters.
Descriptor shared_memory() {
  constexpr int kTries = 16;
  for (int i = 0; i < kTries; ++i) {
    const std::string name = cat("/temper-", ::getpid(), "-", i);
    Descriptor file(::shm_open(name.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600));
    if (!file.open()) continue;
    ::shm_unlink(name.c_str());
    return file;
  }
  return {};
}

} // namespace

std::optional<SharedPage> SharedPage::make() {
  Descriptor file = shared_memory();
  if (!file.open()) return std::nullopt;
  if (::ftruncate(file.get(), static_cast<off_t>(kBytes)) != 0)
    return std::nullopt;
  // shm_open closes it on exec; here it is to be handed over.
  if (::fcntl(file.get(), F_SETFD, 0) != 0) return std::nullopt;
  void* data = map(file.get());
  if (data == nullptr) return std::nullopt;
  return SharedPage(std::move(file), data);
}

std::optional<SharedPage> SharedPage::open(int descriptor) {
  struct stat about {};
  if (descriptor < 0 || ::fstat(descriptor, &about) != 0) return std::nullopt;
  // A Mac rounds the size up to whole pages.
  if (about.st_size < static_cast<off_t>(kBytes)) return std::nullopt;
  void* data = map(descriptor);
  if (data == nullptr) return std::nullopt;
  ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  return SharedPage(Descriptor(descriptor), data);
}

SharedPage::SharedPage(Descriptor file, void* data)
    : file_(std::move(file)), data_(data) {}

SharedPage::SharedPage(SharedPage&& other) noexcept
    : file_(std::move(other.file_)),
      data_(std::exchange(other.data_, nullptr)) {}

SharedPage::~SharedPage() {
  if (data_ != nullptr) ::munmap(data_, kBytes);
}

} // namespace temper::supervise
