#include "temper/data/transform.h"

#include <cstring>

#include "temper/base/hash.h"

namespace temper::data {
namespace {

void add_numbers(Hasher& hasher, const std::vector<float>& numbers) {
  hasher.add(static_cast<std::uint64_t>(numbers.size()));
  hasher.add(numbers.data(), numbers.size() * sizeof(float));
}

} // namespace

std::uint64_t Augment::hash() const {
  Hasher hasher;
  hasher.add(static_cast<std::uint64_t>(transforms.size()));
  for (const auto& transform : transforms)
    hasher.add(std::string_view(transform->describe()));
  add_numbers(hasher, mean);
  add_numbers(hasher, deviation);
  std::uint64_t bits = 0;
  std::memcpy(&bits, &erase_probability, sizeof(bits));
  hasher.add(bits);
  for (const int number : {height, width, channels})
    hasher.add(static_cast<std::uint64_t>(number));
  return hasher.value();
}

} // namespace temper::data
