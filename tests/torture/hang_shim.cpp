// Preloaded into a trainer (LD_PRELOAD): something happens to a call of the
// kind HANG_CALL that is about a path, or a text, with HANG_PATH in it.
//
//   by default   it never comes back, but only one in all processes: who can
//                make the file HANG_ONCE hangs, so that the run's next trainer
//                does not
//   HANG_MS      each takes that long; HANG_ONCE is made by the first
//   HANG_AFTER   nothing happens before there is this file
//   HANG_SIGNAL  each ends its process by that signal
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
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

void happen() {
  if (const char* signal = std::getenv("HANG_SIGNAL")) {
    // A real fault is one that the kernel logs.
    int* volatile nowhere = nullptr;
    if (std::atoi(signal) == SIGSEGV) *nowhere = 1;
    ::kill(::getpid(), std::atoi(signal));
  }
  const char* once = std::getenv("HANG_ONCE");
  if (once == nullptr) return;
  const int made = ::openat(AT_FDCWD, once, O_CREAT | O_EXCL | O_WRONLY, 0644);
  if (made >= 0) ::close(made);
  if (const char* ms = std::getenv("HANG_MS")) {
    ::usleep(static_cast<useconds_t>(std::atoi(ms)) * 1000);
    return;
  }
  while (made >= 0)
    ::pause();
}

void maybe_happen(const char* call, const char* path) {
  if (!wanted(call)) return;
  const char* after = std::getenv("HANG_AFTER");
  if (after != nullptr && ::access(after, F_OK) != 0) return;
  const char* part = std::getenv("HANG_PATH");
  if (part != nullptr && std::strstr(path, part) != nullptr) happen();
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
  maybe_happen("open", path);
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
    maybe_happen("fsync", path);
  }
  static auto* const real = next<int(int)>("fsync");
  return real(descriptor);
}

// A line of the journal: by the thread that trains, in the middle of a step.
ssize_t pwrite(int descriptor, const void* data, size_t size, off_t offset) {
  if (wanted("line")) {
    const char* part = std::getenv("HANG_PATH");
    if (part != nullptr &&
        ::memmem(data, size, part, std::strlen(part)) != nullptr)
      happen();
  }
  static auto* const real =
      next<ssize_t(int, const void*, size_t, off_t)>("pwrite");
  return real(descriptor, data, size, offset);
}

int connect(int socket, const sockaddr* address, socklen_t length) {
  if (wanted("connect")) happen();
  static auto* const real =
      next<int(int, const sockaddr*, socklen_t)>("connect");
  return real(socket, address, length);
}

void png_read_image(void* png, void* rows) {
  if (wanted("decode")) happen();
  static auto* const real = next<void(void*, void*)>("png_read_image");
  real(png, rows);
}
}
