// Looks at every sample once: what cannot be decoded, which numbers are NaN or
// infinite, what sizes there are, which samples are duplicates, how the classes
// are filled. `temper data check` prints what comes out.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "temper/data/sample/source.h"

namespace temper::data {

struct CheckOptions {
  int workers = 1;
  int named = 20; // so many bad samples and duplicates are named
  bool skips_bad = false; // data.bad leaves them out: they are no problem
  // Called from the caller's thread a few times a second; may throw to stop.
  std::function<void(std::int64_t done, std::int64_t total)> progress;
};

// One of the two parts of a dataset.
struct PartReport {
  std::string name; // "train", "val"
  std::int64_t samples = 0;
  std::int64_t bad = 0;
  std::int64_t decoder_warnings = 0;
  // "224 x 224 RGB", "32 x 32 grey": how many; for images only.
  std::map<std::string, std::int64_t> sizes;
  std::vector<std::int64_t> class_counts; // by label
};

// Samples with the same content, in any part: the same inputs, and where
// numbers are predicted the same targets.
struct Duplicates {
  std::vector<std::string> samples; // "train photos/cat/1.jpg"; a few of them
  std::int64_t count = 0; // all of them
  bool across_parts = false;
  bool labels_differ = false;
};

struct DataReport {
  std::string name;
  std::vector<std::string> classes;
  std::shared_ptr<const Schema> schema; // of the training part; may be null
  bool labels = true; // the targets are classes
  std::vector<PartReport> parts;
  std::vector<std::string> bad_samples; // the first few, with the reason
  bool skips_bad = false; // as CheckOptions has it

  std::int64_t duplicate_samples = 0; // beyond the first of each kind
  std::int64_t leaked_samples = 0; // of val that are in train, too
  std::int64_t contradictions = 0; // samples like another with another label
  // A table of few different rows, each of which comes many times: equal rows
  // in both parts and noise in their labels are its nature.
  bool repetitive = false;
  std::vector<Duplicates> duplicates; // the first few

  std::int64_t samples() const;
  std::int64_t bad() const;
  // Sentences about what spoils a run: samples that cannot be used, more than
  // one in a hundred of val known from train, or more than one in a hundred
  // samples like another that has another label.
  std::vector<std::string> problems() const;
  bool has_problems() const;
};

// Takes 24 bytes of memory for each sample. Rethrows what a source throws other
// than BadSample.
DataReport check_data(const Splits& splits, const CheckOptions& options);

} // namespace temper::data
