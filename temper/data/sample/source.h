// Where samples come from. A source decodes: what it hands out is pixels,
// numbers or tokens, ready for the transforms. It is read from several threads
// at once, opens files only while it reads them, and never changes.
//
// Users add their own by deriving from IndexedSource (any order, full
// guarantees: shuffling, resume in constant time) or StreamSource (a generator
// that only knows "next").
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "temper/base/error.h"
#include "temper/data/sample/image.h"

namespace temper::data {

class Content;

enum class Input { image, numbers, tokens };
enum class Target { label, numbers, tokens };

const char* to_string(Input input);
const char* to_string(Target target);

// A label above this is taken for a mistake in the data, not for a class.
constexpr std::int64_t kMostClasses = 65'536;

struct SourceInfo {
  std::string name; // "cifar10", "folder:photos"
  Input input = Input::image;
  Target target = Target::label;
  // The size of an image; width and height are 0 when they differ between
  // samples.
  int channels = 0;
  int height = 0;
  int width = 0;
  // The shape of an input of numbers or tokens: {8} for a table row of eight
  // features.
  std::vector<std::int64_t> shape;
  // Names in the order of the labels; empty when there are no labels.
  std::vector<std::string> classes;
  // Numbers in a target of numbers, tokens in one of tokens.
  int target_size = 0;
  // How many different tokens there are.
  int vocabulary = 0;
  // Per-channel statistics that inputs are usually normalised with, in units
  // of 0..1; empty: none are known.
  std::vector<float> mean;
  std::vector<float> deviation;
};

// One sample and the buffers it needs, reused from sample to sample by one
// thread. Only the fields that SourceInfo announces are filled.
struct Sample {
  Image image;
  // The part of the picture that `image` holds, after read_window(); no value:
  // all of it.
  std::optional<Box> window;
  std::vector<float> numbers;
  std::vector<std::int64_t> tokens;

  std::int64_t label = 0;
  std::vector<float> target_numbers;
  std::vector<std::int64_t> target_tokens;

  // Scratch for the bytes of an encoded file.
  std::vector<std::uint8_t> encoded;
  // Decoder warnings (say, extraneous bytes) met while reading this sample.
  int warnings = 0;
};

// A sample that cannot be used: truncated, not an image, too large. Says which
// one and why; the policy data.bad decides what happens.
class BadSample : public Error {
 public:
  using Error::Error;
};

// Picks the part of an image that will be looked at, once its size is known:
// the rest need not be decoded.
class WindowChooser {
 public:
  // A box inside the image; no value: all of it.
  virtual std::optional<Box> choose(int width, int height) const = 0;

 protected:
  ~WindowChooser() = default;
};

class IndexedSource {
 public:
  virtual ~IndexedSource() = default;
  virtual const SourceInfo& info() const = 0;
  virtual std::int64_t size() const = 0;
  // 0 <= index < size(). Called from several threads at once. Throws BadSample.
  virtual void read(std::int64_t index, Sample& sample) const = 0;
  // Like read(), but an image may be the chosen window alone: sample.window,
  // which has no value before the call, says so. The default reads all of it.
  virtual void read_window(
      std::int64_t index,
      const WindowChooser& chooser,
      Sample& sample) const;
  // The class of a sample without reading it, where that is known for free.
  virtual std::optional<std::int64_t> label(std::int64_t index) const;
  // A sample's name for messages: "photos/cat/12.jpg", "data_batch_1.bin record
  // 17".
  virtual std::string describe(std::int64_t index) const;
  // A hash of what reading the source gives, the same wherever it lies. A
  // resume refuses data with another one. The first call may read all of it.
  // The default knows the name, the number of samples and their shape: samples
  // that changed since go unnoticed.
  virtual std::uint64_t fingerprint() const;
  // The contents of its files, from which the fingerprint follows. Null for a
  // source that cannot tell: kept features then read all samples first.
  virtual const Content* content() const {
    return nullptr;
  }
};

class StreamSource {
 public:
  virtual ~StreamSource() = default;
  virtual const SourceInfo& info() const = 0;
  // Begins an epoch at its first sample. Called from one thread, as next().
  virtual void restart(std::uint64_t seed, std::uint32_t epoch) = 0;
  // False at the end of the epoch. Throws BadSample.
  virtual bool next(Sample& sample) = 0;
  // Where it is, for an exact and immediate resume. Without it, a resume
  // reads and drops what was consumed.
  virtual std::optional<std::string> save() const;
  virtual void load(const std::string& state);
  // Called from another thread: a next() under way should give up soon, by
  // returning or throwing anything. One that waits for something outside needs
  // it.
  virtual void interrupt() {}
};

struct Schema;
struct CsvTable;

// Train and validation parts of a dataset; the second may be empty.
struct Splits {
  std::shared_ptr<const IndexedSource> train = {};
  std::shared_ptr<const IndexedSource> val = {};
  // The meaning of both parts' inputs and targets (schema.h); null: not yet
  // fitted.
  std::shared_ptr<const Schema> schema = {};
  std::vector<std::string> notes = {}; // sentences for people
  // A source beside them for testing, "folder:photos/test"; empty: none.
  std::string test = {};
  // The parts were one source, divided by the seed.
  bool divided = false;
  // The table of a CSV whose rows are not yet encoded.
  std::shared_ptr<const CsvTable> table = {};
};

} // namespace temper::data
