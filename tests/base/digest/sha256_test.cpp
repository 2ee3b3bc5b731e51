#include "temper/base/digest/sha256.h"

#include <gtest/gtest.h>

namespace temper {
namespace {

// The examples NIST publishes with FIPS 180-4, and its million-letter one.
TEST(Sha256, GivesTheSumsThatNistPublishes) {
  EXPECT_EQ(
      sha256_hex("abc"),
      "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(
      sha256_hex(""),
      "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(
      sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(
      sha256_hex(std::string(1'000'000, 'a')),
      "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, IsTheSameInPiecesOfAnySize) {
  std::string text;
  for (int i = 0; i < 300; ++i)
    text += static_cast<char>(i * 37);
  for (std::size_t length = 0; length <= text.size(); length += 7) {
    const std::string_view whole = std::string_view(text).substr(0, length);
    for (const std::size_t piece : {1U, 3U, 63U, 64U, 65U}) {
      Sha256 sum;
      for (std::size_t at = 0; at < length; at += piece) {
        const auto part = whole.substr(at, piece);
        sum.add(part.data(), part.size());
        sum.hex(); // asking on the way changes nothing
      }
      EXPECT_EQ(sum.hex(), sha256_hex(whole)) << length << " by " << piece;
    }
  }
}

} // namespace
} // namespace temper
