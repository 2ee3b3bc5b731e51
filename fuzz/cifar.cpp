// CIFAR's binary batches: whole records or none.
#include "temper/data/source/cifar_source.h"

#include "input_file.h"
#include "target.h"

std::vector<std::string> temper::fuzz::seeds() {
  std::string one(3073, 'p');
  one[0] = 3;
  std::string hundred(3074, 'p');
  hundred[0] = 1;
  hundred[1] = 99;
  return {one, one + one, hundred, hundred + hundred + hundred};
}

extern "C" int LLVMFuzzerTestOneInput(
    const std::uint8_t* data,
    std::size_t size) {
  using namespace temper::data;
  static temper::fuzz::InputFile file(".bin");
  const auto& path = file.write(data, size);
  for (const auto& format : {cifar10_format(), cifar100_format()})
    try {
      const CifarSource source(format, {path});
      Sample sample;
      for (std::int64_t i = 0; i < source.size(); ++i)
        try {
          source.read(i, sample);
          source.label(i);
        } catch (const BadSample&) {
        }
    } catch (const temper::Error&) {
    }
  return 0;
}
