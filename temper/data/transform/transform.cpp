#include "temper/data/transform/transform.h"

#include <algorithm>

#include "temper/base/digest/hash.h"
#include "temper/base/error.h"

namespace temper::data {

std::optional<Box> Transform::window(int, int, RandomStream) const {
  return std::nullopt;
}

void Transform::apply_to_window(Image&, Image&) const {
  check(false, "a transform that asks for a window takes it");
}

bool Augment::is_random() const {
  return erase_probability > 0 ||
      std::any_of(
             transforms.begin(), transforms.end(), [](const auto& transform) {
               return transform->is_random();
             });
}

std::uint64_t Augment::hash() const {
  Hasher hasher;
  // Counts keep a list from running into the next one.
  hasher.add(std::uint64_t{transforms.size()});
  for (const auto& transform : transforms) {
    hasher.add(transform->describe());
  }
  for (const auto* numbers : {&mean, &deviation}) {
    hasher.add(std::uint64_t{numbers->size()});
    hasher.add(numbers->data(), numbers->size() * sizeof(float));
  }
  hasher.add(&erase_probability, sizeof erase_probability);
  for (const int number : {height, width, channels}) {
    hasher.add(static_cast<std::uint64_t>(number));
  }
  return hasher.value();
}

} // namespace temper::data
