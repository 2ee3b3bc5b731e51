#include "temper/data/source/cmd_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "temper/base/text.h"
#include "temper/data/loader/stream_loader.h"
#include "tests/data/loader/loader_samples.h"
#include "tests/data/tar_writer.h"
#include "tests/temp_folder.h"
#include "tests/thread_count.h"
#include "tests/wait_until.h"

namespace temper::data {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using tests::read_bytes;
using tests::TempFolder;

// Images of 2 x 2 grey pixels, as four bytes.
std::string folder_archive(int samples) {
  std::string tar;
  for (int i = 0; i < samples; ++i) {
    const char pixel = static_cast<char>('0' + i % 10);
    tar += tar_member(cat("a/", i, ".cls"), cat(i % 10, "\n"));
    tar += tar_member(cat("a/", i, ".json"), "{}");
    tar += tar_member(cat("a/", i, ".img"), std::string(4, pixel));
  }
  return tar + std::string(1024, '\0');
}

CmdOptions options_for(const std::string& command) {
  CmdOptions options;
  options.command = command;
  options.info.channels = 1;
  options.info.height = options.info.width = 2;
  options.decode = [](std::span<const std::uint8_t> bytes, Sample& sample) {
    if (bytes.size() != 4) throw BadSample("[data] not four pixels.");
    sample.image.reshape(2, 2, 1);
    std::copy(bytes.begin(), bytes.end(), sample.image.pixels());
  };
  options.patience_s = 20;
  return options;
}

std::vector<std::int64_t> labels_of(CmdSource& source) {
  std::vector<std::int64_t> labels;
  Sample sample;
  while (source.next(sample)) {
    EXPECT_EQ(sample.image.pixels()[3], '0' + sample.label);
    labels.push_back(sample.label);
  }
  return labels;
}

std::string trouble_of(const CmdOptions& options) {
  CmdSource source(options);
  source.restart(0, 0);
  Sample sample;
  return refusal([&] {
    while (source.next(sample)) {
    }
  });
}

TEST(CmdSource, ReadsTheSamplesAProgramWrites) {
  const TempFolder place;
  place.write("a.tar", folder_archive(25));
  CmdSource source(options_for(cat("cat '", (place / "a.tar").string(), "'")));
  for (std::uint32_t epoch = 0; epoch < 2; ++epoch) {
    source.restart(1, epoch);
    const auto labels = labels_of(source);
    ASSERT_EQ(labels.size(), 25U);
    EXPECT_EQ(labels[17], 7);
  }
}

TEST(CmdSource, TellsTheProgramSeedEpochAndStart) {
  const TempFolder place;
  place.write("a.tar", folder_archive(3));
  const auto seen = place / "seen";
  CmdSource source(options_for(
      cat("echo $TEMPER_SEED $TEMPER_EPOCH $TEMPER_START >'",
          seen.string(),
          "'; cat '",
          (place / "a.tar").string(),
          "'")));
  Sample sample;
  source.restart(17, 4);
  source.next(sample);
  EXPECT_EQ(read_bytes(seen), "17 4 0\n");
  EXPECT_EQ(source.save(), "1");
  source.restart(17, 4);
  source.load("2");
  source.next(sample);
  EXPECT_EQ(read_bytes(seen), "17 4 2\n");
  EXPECT_EQ(source.save(), "3");
}

TEST(CmdSource, ReadsLongNamesOfBothKinds) {
  const TempFolder place;
  const std::string name = std::string(150, 'n') + "/x";
  std::string tar = tar_member("././@LongLink", name + ".cls" + '\0', 'L');
  tar += tar_member("cut", "3");
  const std::string path = cat(" path=", name, ".img\n");
  tar += tar_member("pax", cat(path.size() + 3, path), 'x');
  tar += tar_member("cut", "3333");
  place.write("a.tar", tar);
  CmdSource source(options_for(cat("cat '", (place / "a.tar").string(), "'")));
  source.restart(0, 0);
  EXPECT_EQ(labels_of(source), (std::vector<std::int64_t>{3}));
}

TEST(CmdSource, BadSamplesAreNamedAndTheRestIsRead) {
  const TempFolder place;
  std::string tar = tar_member("1.cls", "x") + tar_member("1.img", "1111");
  tar += tar_member("2.img", "2222");
  tar += tar_member("3.cls", "3") + tar_member("3.img", "333");
  tar += tar_member("4.cls", "4") + tar_member("4.img", "4444");
  place.write("a.tar", tar);
  CmdSource source(options_for(cat("cat '", (place / "a.tar").string(), "'")));
  source.restart(0, 0);
  Sample sample;
  const auto next = [&] { return refusal([&] { source.next(sample); }); };
  EXPECT_THAT(next(), HasSubstr("[data] 1: its label is not a number"));
  EXPECT_THAT(next(), HasSubstr("2 has no label"));
  EXPECT_THAT(next(), HasSubstr("[data] 3: not four pixels"));
  EXPECT_EQ(next(), "");
  EXPECT_EQ(sample.label, 4);
  EXPECT_FALSE(source.next(sample));
}

TEST(CmdSource, AProgramThatFailsIsAnErrorWithWhatItSaid) {
  const TempFolder place;
  place.write("a.tar", folder_archive(25));
  const std::string tar = (place / "a.tar").string();
  EXPECT_THAT(
      trouble_of(options_for("echo no GPU >&2; exit 3")),
      AllOf(HasSubstr("exit code 3"), HasSubstr("It said: no GPU")));
  EXPECT_THAT(
      trouble_of(options_for("/no/such/program")), HasSubstr("exit code 127"));
  EXPECT_THAT(
      trouble_of(options_for(cat("head -c 5000 '", tar, "'"))),
      HasSubstr("ends in the middle"));
  EXPECT_THAT(
      trouble_of(options_for(cat("head -c 4608 '", tar, "'; kill -9 $$"))),
      HasSubstr("ended by Killed"));
  EXPECT_THAT(
      trouble_of(options_for("head -c 9999 /dev/zero | tr '\\0' x")),
      HasSubstr("does not write a tar archive"));
  EXPECT_THAT(trouble_of(options_for("true")), HasSubstr("wrote no samples"));
  EXPECT_THAT(
      refusal([] { CmdSource source(options_for(" ")); }),
      HasSubstr("names no program"));
}

TEST(CmdSource, AProgramThatHangsIsAnErrorAndIsKilled) {
  const TempFolder place;
  CmdOptions options = options_for(
      cat("sleep 1000 & echo $! >'", (place / "pid").string(), "'; wait"));
  options.patience_s = 0.3;
  EXPECT_THAT(trouble_of(options), HasSubstr("wrote nothing for"));
  const auto pid = parse_int(trim(read_bytes(place / "pid")));
  ASSERT_TRUE(pid);
  tests::wait_until([&] { return ::kill(static_cast<pid_t>(*pid), 0) != 0; });
}

TEST(CmdSource, AMemberOfAbsurdSizeIsRefused) {
  const TempFolder place;
  place.write("a.tar", tar_header("1.img", std::size_t{1} << 31));
  EXPECT_THAT(
      trouble_of(options_for(cat("cat '", (place / "a.tar").string(), "'"))),
      HasSubstr("has 2.0 GiB"));
}

TEST(CmdSource, AnEndlessProgramOnlyRunsAsFarAsItIsRead) {
  const TempFolder place;
  std::string tar = folder_archive(10);
  tar.resize(tar.size() - 1024);
  place.write("a.tar", tar);
  LoaderOptions options;
  options.batch = 4;
  StreamLoader loader(
      std::make_unique<CmdSource>(options_for(
          cat("while :; do cat '", (place / "a.tar").string(), "'; done"))),
      nullptr,
      options);
  loader.start(0);
  for (std::int64_t i = 0; i < 10; ++i) {
    const HostBatch* batch = loader.next();
    ASSERT_NE(batch, nullptr);
    EXPECT_EQ(batch->labels[0], 4 * i % 10);
  }
}

TEST(CmdSource, ALoaderCanBeDestroyedWhileTheProgramIsSilentAndLeavesNothing) {
  const TempFolder place;
  const int before = tests::thread_count();
  {
    StreamLoader loader(
        std::make_unique<CmdSource>(options_for(
            cat("echo $$ >'", (place / "pid").string(), "'; exec sleep 1000"))),
        nullptr,
        {});
    loader.start(0);
    tests::wait_until(
        [&] { return parse_int(trim(read_bytes(place / "pid"))); });
  }
  EXPECT_TRUE(tests::no_more_threads_than(before));
  const auto pid = parse_int(trim(read_bytes(place / "pid")));
  EXPECT_NE(::kill(static_cast<pid_t>(*pid), 0), 0) << "the program still runs";
}

} // namespace
} // namespace temper::data
