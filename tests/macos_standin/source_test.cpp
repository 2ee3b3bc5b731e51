#include <gtest/gtest.h>

#include <cstring>

#include "fake_kernel.h"
#include "temper/machine/mac/mac_source.h"

namespace temper::machine {
namespace {

template <class Value>
std::string raw(const Value& value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

class SystemMacTest : public testing::Test {
 protected:
  SystemMacTest() {
    fake::kernel() = {};
    source = open_mac_source();
  }

  std::unique_ptr<MacSource> source;
};

TEST_F(SystemMacTest, NumbersAreReadInTheWidthTheSystemGives) {
  fake::kernel().sysctl = {
      {"narrow", raw(std::int32_t{-3})},
      {"wide", raw(std::int64_t{68719476736})},
      {"odd", "abc"},
      {"a structure", std::string(32, 'x')}};
  EXPECT_EQ(source->number("narrow"), -3);
  EXPECT_EQ(source->number("wide"), 68719476736);
  EXPECT_EQ(source->number("odd"), std::nullopt);
  EXPECT_EQ(source->number("a structure"), std::nullopt);
  EXPECT_EQ(source->number("missing"), std::nullopt);
}

TEST_F(SystemMacTest, TextEndsBeforeItsZero) {
  fake::kernel().sysctl = {
      {"hw.model", std::string("Mac14,6\0", 8)}, {"empty", ""}};
  EXPECT_EQ(source->text("hw.model"), "Mac14,6");
  EXPECT_EQ(source->text("empty"), "");
  EXPECT_EQ(source->text("missing"), std::nullopt);
}

TEST_F(SystemMacTest, SwapIsTotalAndUsedNotAvailable) {
  struct Usage {
    std::uint64_t total = 100, available = 70, used = 30;
    std::uint32_t page = 16384, encrypted = 1;
  };
  fake::kernel().sysctl = {{"vm.swapusage", raw(Usage{})}};
  const auto swap = source->swap();
  ASSERT_TRUE(swap);
  EXPECT_EQ(swap->total_bytes, 100u);
  EXPECT_EQ(swap->used_bytes, 30u);
}

TEST_F(SystemMacTest, EachPageCountGoesToItsOwnField) {
  const auto pages = source->pages();
  ASSERT_TRUE(pages);
  EXPECT_EQ(pages->page_bytes, 16384u);
  EXPECT_EQ(pages->active, 2u);
  EXPECT_EQ(pages->inactive, 3u);
  EXPECT_EQ(pages->wired, 4u);
  EXPECT_EQ(pages->speculative, 5u);
  EXPECT_EQ(pages->compressor, 6u);
  EXPECT_EQ(pages->purgeable, 7u);
  EXPECT_EQ(pages->external, 8u);
}

TEST_F(SystemMacTest, AnOlderKernelHasAFootprintWithoutAPeak) {
  EXPECT_EQ(source->footprint()->now_bytes, 500u);
  EXPECT_EQ(source->footprint()->peak_bytes, 900u);
  fake::kernel().old_task_info = true;
  EXPECT_EQ(source->footprint()->now_bytes, 500u);
  EXPECT_EQ(source->footprint()->peak_bytes, std::nullopt);
}

TEST_F(SystemMacTest, CoreTicksAreReadAndTheirArrayGivenBack) {
  const auto ticks = source->ticks();
  ASSERT_TRUE(ticks);
  ASSERT_EQ(ticks->size(), 2u);
  EXPECT_EQ((*ticks)[0].user, 10u);
  EXPECT_EQ((*ticks)[0].system, 20u);
  EXPECT_EQ((*ticks)[0].idle, 70u);
  EXPECT_EQ((*ticks)[0].nice, 1u);
  EXPECT_EQ((*ticks)[1].idle, 50u);
  EXPECT_EQ(fake::kernel().mapped_arrays, 0);
}

TEST_F(SystemMacTest, OpenFilesAreCountedHoweverMany) {
  for (const int open : {1, 255, 256, 257, 5000}) {
    fake::kernel().open_files = open;
    EXPECT_EQ(source->open_files(), open);
  }
}

TEST_F(SystemMacTest, OnlyLinksWithCountersAreInterfaces) {
  const auto interfaces = source->interfaces();
  ASSERT_TRUE(interfaces);
  ASSERT_EQ(interfaces->size(), 1u);
  EXPECT_EQ((*interfaces)[0].name, "en0");
  EXPECT_EQ((*interfaces)[0].in_bytes, 4000000000u);
  EXPECT_EQ((*interfaces)[0].out_bytes, 17u);
  EXPECT_EQ(fake::kernel().interface_lists, 0);
}

TEST_F(SystemMacTest, AVolumeHasWhatThisUserMayFill) {
  const auto volume = source->volume("/Volumes/Data");
  ASSERT_TRUE(volume);
  EXPECT_EQ(volume->total_bytes, 20480000000000u);
  EXPECT_EQ(volume->free_bytes, 60u * 4096);
  EXPECT_EQ(volume->filesystem, "apfs");
  EXPECT_FALSE(source->volume("/Volumes/None"));
}

TEST_F(SystemMacTest, AllThatWasTakenIsGivenBack) {
  EXPECT_EQ(source->thermal_level(), 2u);
  for (int read = 0; read < 3; read++) {
    source->pages();
    source->ticks();
  }
  EXPECT_EQ(fake::kernel().host_references, 1);
  source.reset();
  EXPECT_EQ(fake::kernel().host_references, 0);
  EXPECT_EQ(fake::kernel().notify_tokens, 0);
}

} // namespace
} // namespace temper::machine
