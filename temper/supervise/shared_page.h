// A few kilobytes that two programs see: the supervisor makes them, the trainer
// it starts writes into them, and what was written last is still there when the
// trainer has died. Memory, not a file; gone when both are.
#pragma once

#include <cstddef>
#include <optional>

#include "temper/base/file/descriptor.h"

namespace temper::supervise {

class SharedPage {
 public:
  static constexpr std::size_t kBytes = 8192;

  // A page filled with zeros; no value when the system gives none.
  static std::optional<SharedPage> make();
  // The page that another program made and handed over as this descriptor; it
  // is not handed on. No value when it is no such page.
  static std::optional<SharedPage> open(int descriptor);

  SharedPage(SharedPage&& other) noexcept;
  SharedPage& operator=(SharedPage&&) = delete;
  ~SharedPage();

  void* data() const {
    return data_;
  }
  // The descriptor for whoever is started with it.
  int descriptor() const {
    return file_.get();
  }

 private:
  SharedPage(Descriptor file, void* data);

  Descriptor file_;
  void* data_ = nullptr;
};

} // namespace temper::supervise
