#include "temper/graph/ir/weights.h"

#include "temper/base/error.h"
#include "temper/base/text.h"

namespace temper::graph {

std::int64_t element_count(const std::vector<std::int64_t>& sizes) {
  // A size of zero must not hide another that is negative or an overflow.
  std::int64_t count = 1;
  bool empty = false;
  for (const std::int64_t size : sizes) {
    if (size < 0)
      throw Error(cat("[graph] a tensor has a size of ", size, "."));
    if (size == 0)
      empty = true;
    else if (__builtin_mul_overflow(count, size, &count))
      throw Error("[graph] a tensor has more elements than memory can hold.");
  }
  return empty ? 0 : count;
}

NewTensor
make_tensor(DType dtype, const std::vector<std::int64_t>& sizes, bool zeroed) {
  const auto count = static_cast<std::uint64_t>(element_count(sizes));
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, bytes_of(dtype), &bytes))
    throw Error("[graph] a tensor has more bytes than memory can hold.");
  NewTensor made;
  made.data.dtype = dtype;
  made.data.sizes = sizes;
  made.data.byte_count = bytes;
  if (bytes > 0) {
    std::shared_ptr<std::byte[]> memory(
        zeroed ? new std::byte[bytes]() : new std::byte[bytes]);
    made.bytes = memory.get();
    made.data.bytes = std::shared_ptr<const std::byte>(memory, memory.get());
  }
  return made;
}

} // namespace temper::graph
