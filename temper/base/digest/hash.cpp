#include "temper/base/digest/hash.h"

#include <xxhash.h>

namespace temper {

std::uint64_t hash64(const void* data, std::size_t bytes) {
  return XXH3_64bits(data, bytes);
}

std::uint64_t hash64(std::string_view text) {
  return hash64(text.data(), text.size());
}

struct Hasher::State {
  XXH3_state_t* xxh = XXH3_createState();
  ~State() {
    XXH3_freeState(xxh);
  }
};

Hasher::Hasher() : state_(std::make_unique<State>()) {
  XXH3_64bits_reset(state_->xxh);
}

Hasher::~Hasher() = default;

void Hasher::add(const void* data, std::size_t bytes) {
  XXH3_64bits_update(state_->xxh, data, bytes);
}

void Hasher::add(std::string_view text) {
  add(std::uint64_t{text.size()});
  add(text.data(), text.size());
}

void Hasher::add(std::uint64_t number) {
  add(&number, sizeof number);
}

std::uint64_t Hasher::value() const {
  return XXH3_64bits_digest(state_->xxh);
}

} // namespace temper
