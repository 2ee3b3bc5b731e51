// The pickle in PyTorch's weights files.
#include "temper/weights/pickle.h"

#include "target.h"
#include "temper/base/error.h"

std::vector<std::string> temper::fuzz::seeds() {
  const std::string tensor =
      "ctorch._utils\n_rebuild_tensor_v2\nq\2((X\7\0\0\0storageq\3"
      "ctorch\nFloatStorage\nq\4X\1\0\0\0000q\5X\3\0\0\0cpuq\6K\4tq\7QK\0K\2"
      "K\2\x86q\bK\2K\1\x86q\t\x89"
      "ccollections\nOrderedDict\nq\n)Rq\vtq\fRq\r";
  const auto with_length = [](const char* bytes, std::size_t count) {
    return std::string(bytes, count);
  };
  std::string dict = with_length("\x80\2}q\0X\1\0\0\0wq\1", 13);
  return {
      dict + tensor + "s.",
      with_length("\x80\4\x95\x0b\0\0\0\0\0\0\0}\x94(\x8c\1a\x94K\1u.", 23),
      with_length(
          "\x80\2]q\0(G?\xb9\x99\x99\x99\x99\x99\x9aN\x88\x8a\1\5e.", 22),
      "\x80\2ccos\nsystem\n."};
}

extern "C" int LLVMFuzzerTestOneInput(
    const std::uint8_t* data,
    std::size_t size) {
  try {
    const temper::weights::Pickle pickle({data, size}, "input");
  } catch (const temper::Error&) {
  }
  return 0;
}
