// `cmd:PROGRAM ARGS`: samples from any program that writes a tar archive in
// the layout of WebDataset to its standard output. Members with the same name
// up to the first dot make a sample: 0001.jpg and 0001.cls.
//
// The program finds TEMPER_SEED, TEMPER_EPOCH and TEMPER_START in its
// environment: the number of samples of the epoch to leave out, so that a
// resume costs nothing.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "temper/data/sample/source.h"
#include "temper/data/source/child_output.h"

namespace temper::data {

struct CmdOptions {
  std::string command; // run by the shell
  SourceInfo info; // sizes and classes, as far as they are known
  // Bytes of an image file into Sample::image; throws BadSample.
  std::function<void(std::span<const std::uint8_t>, Sample&)> decode;
  double patience_s = 60; // without any output
};

class CmdSource : public StreamSource {
 public:
  explicit CmdSource(CmdOptions options);
  ~CmdSource() override;

  const SourceInfo& info() const override {
    return options_.info;
  }
  void restart(std::uint64_t seed, std::uint32_t epoch) override;
  bool next(Sample& sample) override;
  std::optional<std::string> save() const override;
  void load(const std::string& state) override;
  void interrupt() override;

 private:
  struct Member {
    std::string key; // the name up to its first dot
    std::string kind; // the rest: "jpg", "cls"
    std::vector<std::uint8_t> bytes;
  };

  void run();
  bool read_member(Member& member);
  bool read_block(std::span<std::uint8_t> block);
  void read_contents(std::uint64_t size, std::vector<std::uint8_t>& bytes);
  void use(const Member& member, Sample& sample, bool& label, bool& image);

  CmdOptions options_;
  std::uint64_t seed_ = 0;
  std::uint32_t epoch_ = 0;
  std::int64_t samples_ = 0; // of the epoch, up to here
  std::atomic<bool> interrupted_{false};
  std::unique_ptr<ChildOutput> child_; // null before the first next()
  std::unique_ptr<Member> ahead_; // the first of the next sample
  bool ended_ = false;
};

} // namespace temper::data
