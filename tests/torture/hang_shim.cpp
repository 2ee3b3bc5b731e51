// Preloaded into a trainer (LD_PRELOAD): one call of the kind HANG_CALL about a
// path with HANG_PATH in it never comes back. Only one in all processes: who
// can make the file HANG_ONCE hangs, so that the run's next trainer does not.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

bool wanted(const char* call) {
  const char* kind = std::getenv("HANG_CALL");
  return kind != nullptr && std::strcmp(kind, call) == 0;
}

void hang_once() {
  const char* once = std::getenv("HANG_ONCE");
  if (once == nullptr) return;
  const int made = ::openat(AT_FDCWD, once, O_CREAT | O_EXCL | O_WRONLY, 0644);
  if (made < 0) return;
  ::close(made);
  for (;;)
    ::pause();
}

void maybe_hang(const char* call, const char* path) {
  if (!wanted(call)) return;
  const char* part = std::getenv("HANG_PATH");
  if (part != nullptr && std::strstr(path, part) != nullptr) hang_once();
}

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

} // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const int mode = va_arg(rest, int);
  va_end(rest);
  maybe_hang("open", path);
  static auto* const real = next<int(const char*, int, ...)>("open");
  return real(path, flags, mode);
}

int fsync(int descriptor) {
  if (wanted("fsync")) {
    char link[64];
    char path[4096];
    std::snprintf(link, sizeof(link), "/proc/self/fd/%d", descriptor);
    const ssize_t length = ::readlink(link, path, sizeof(path) - 1);
    path[length > 0 ? length : 0] = 0;
    maybe_hang("fsync", path);
  }
  static auto* const real = next<int(int)>("fsync");
  return real(descriptor);
}

int connect(int socket, const sockaddr* address, socklen_t length) {
  if (wanted("connect")) hang_once();
  static auto* const real =
      next<int(int, const sockaddr*, socklen_t)>("connect");
  return real(socket, address, length);
}

void png_read_image(void* png, void* rows) {
  if (wanted("decode")) hang_once();
  static auto* const real = next<void(void*, void*)>("png_read_image");
  real(png, rows);
}
}
