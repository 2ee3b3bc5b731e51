// Loaded before the C library (LD_PRELOAD) into a program that saves
// checkpoints: counts the system calls that touch files below SHIM_FOLDER, and
//   SHIM_KILL_AFTER=n   kills the process after the n-th (0: before the first)
//   SHIM_FAIL_FROM=n    lets those from the n-th on fail, SHIM_FAIL_COUNT of
//                       them, with errno SHIM_ERRNO
//   SHIM_LOG=file       records each, with its data, for power_cut.cpp
// mkdir("anything.mark/x") does nothing and is recorded as a mark.
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <map>
#include <string>

namespace {

template <class Function>
Function real(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

long number(const char* name, long otherwise) {
  const char* text = getenv(name);
  return text == nullptr ? otherwise : atol(text);
}

struct Shim {
  std::string folder = getenv("SHIM_FOLDER") ? getenv("SHIM_FOLDER") : "";
  long kill_after = number("SHIM_KILL_AFTER", -1);
  long fail_from = number("SHIM_FAIL_FROM", -1);
  long fail_count = number("SHIM_FAIL_COUNT", 1);
  int error = static_cast<int>(number("SHIM_ERRNO", ENOSPC));
  int log = -1;
  long done = 0;
  std::map<int, std::string> paths; // of open descriptors

  Shim() {
    if (const char* file = getenv("SHIM_LOG"))
      log = static_cast<int>(syscall(
          SYS_openat, AT_FDCWD, file, O_WRONLY | O_CREAT | O_APPEND, 0644));
    if (kill_after == 0) kill(getpid(), SIGKILL);
  }

  bool watches(const std::string& path) const {
    return !folder.empty() && path.compare(0, folder.size(), folder) == 0;
  }
  std::string path_of(int descriptor) const {
    const auto found = paths.find(descriptor);
    return found == paths.end() ? "" : found->second;
  }
  // False: it must fail instead.
  bool begin() {
    ++done;
    const bool fails =
        fail_from >= 0 && done >= fail_from && done < fail_from + fail_count;
    if (fails) errno = error;
    return !fails;
  }
  void end(const std::string& record, const void* data = "", size_t bytes = 0) {
    const int before = errno;
    if (log >= 0) {
      const std::string line = record + "\n";
      syscall(SYS_write, log, line.data(), line.size());
      if (bytes > 0) syscall(SYS_write, log, data, bytes);
    }
    if (done == kill_after) kill(getpid(), SIGKILL);
    errno = before;
  }
};

Shim& shim() {
  static Shim* const the = new Shim; // used until the very end
  return *the;
}

std::string at(int folder, const char* path) {
  if (path[0] == '/' || folder == AT_FDCWD) return path;
  return shim().path_of(folder) + "/" + path;
}

int opened(int folder, const char* name, int flags, mode_t mode) {
  static const auto call =
      real<int (*)(int, const char*, int, mode_t)>("openat");
  const std::string path = at(folder, name);
  if (!shim().watches(path)) {
    const int other = call(folder, name, flags, mode);
    shim().paths.erase(other); // closedir() does not tell
    return other;
  }
  if (!shim().begin()) return -1;
  const int result = call(folder, name, flags, mode);
  if (result >= 0) shim().paths[result] = path;
  const bool makes = (flags & O_CREAT) != 0 && result >= 0;
  shim().end((makes ? "create\t" : "look\t") + path);
  return result;
}

ssize_t written(int descriptor, const void* data, size_t bytes, off_t offset) {
  static const auto call =
      real<ssize_t (*)(int, const void*, size_t, off_t)>("pwrite");
  const std::string path = shim().path_of(descriptor);
  if (path.empty()) return call(descriptor, data, bytes, offset);
  if (!shim().begin()) return -1;
  const ssize_t result = call(descriptor, data, bytes, offset);
  if (result > 0)
    shim().end(
        "write\t" + path + "\t" + std::to_string(offset) + "\t" +
            std::to_string(result),
        data,
        static_cast<size_t>(result));
  return result;
}

int synced(const char* name, int descriptor) {
  const auto call = real<int (*)(int)>(name);
  const std::string path = shim().path_of(descriptor);
  if (path.empty()) return call(descriptor);
  if (!shim().begin()) return -1;
  const int result = call(descriptor);
  shim().end("sync\t" + path);
  return result;
}

int renamed(const std::string& from, const std::string& to) {
  static const auto call = real<int (*)(const char*, const char*)>("rename");
  if (!shim().watches(to)) return call(from.c_str(), to.c_str());
  if (!shim().begin()) return -1;
  const int result = call(from.c_str(), to.c_str());
  shim().end(result == 0 ? "rename\t" + from + "\t" + to : "look\t" + to);
  return result;
}

} // namespace

extern "C" {

int open(const char* name, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const auto mode = static_cast<mode_t>(va_arg(rest, int));
  va_end(rest);
  return opened(AT_FDCWD, name, flags, mode);
}
int open64(const char* name, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const auto mode = static_cast<mode_t>(va_arg(rest, int));
  va_end(rest);
  return opened(AT_FDCWD, name, flags, mode);
}
int openat(int folder, const char* name, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const auto mode = static_cast<mode_t>(va_arg(rest, int));
  va_end(rest);
  return opened(folder, name, flags, mode);
}
int close(int descriptor) {
  static const auto call = real<int (*)(int)>("close");
  shim().paths.erase(descriptor);
  return call(descriptor);
}
ssize_t pwrite(int descriptor, const void* data, size_t bytes, off_t offset) {
  return written(descriptor, data, bytes, offset);
}
ssize_t pwrite64(int descriptor, const void* data, size_t bytes, off_t offset) {
  return written(descriptor, data, bytes, offset);
}
int fsync(int descriptor) {
  return synced("fsync", descriptor);
}
int fdatasync(int descriptor) {
  return synced("fdatasync", descriptor);
}
int rename(const char* from, const char* to) {
  return renamed(from, to);
}
int renameat(int folder, const char* from, int other, const char* to) {
  return renamed(at(folder, from), at(other, to));
}
int mkdir(const char* path, mode_t mode) {
  static const auto call = real<int (*)(const char*, mode_t)>("mkdir");
  if (const char* mark = strstr(path, ".mark/")) {
    shim().end("mark\t" + std::string(mark + strlen(".mark/")));
    return 0;
  }
  if (!shim().watches(path)) return call(path, mode);
  if (!shim().begin()) return -1;
  const int result = call(path, mode);
  shim().end((result == 0 ? "mkdir\t" : "look\t") + std::string(path));
  return result;
}
int unlinkat(int folder, const char* name, int flags) {
  static const auto call = real<int (*)(int, const char*, int)>("unlinkat");
  const std::string path = at(folder, name);
  if (!shim().watches(path)) return call(folder, name, flags);
  if (!shim().begin()) return -1;
  const int result = call(folder, name, flags);
  shim().end((result == 0 ? "remove\t" : "look\t") + path);
  return result;
}
int unlink(const char* name) {
  return unlinkat(AT_FDCWD, name, 0);
}
int rmdir(const char* name) {
  return unlinkat(AT_FDCWD, name, AT_REMOVEDIR);
}
int remove(const char* name) {
  struct stat about {};
  if (lstat(name, &about) != 0) return -1;
  return unlinkat(AT_FDCWD, name, S_ISDIR(about.st_mode) ? AT_REMOVEDIR : 0);
}
} // extern "C"
