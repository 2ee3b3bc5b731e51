// Small runs of several networks that can be stopped after any step, exactly:
// in this process, by what the loop asks; others go on with them. For the tests
// of resuming.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "temper/base/text.h"
#include "temper/config/load.h"
#include "temper/journal/journal.h"
#include "temper/machine/probe.h"
#include "temper/train/run/run.h"
#include "tests/checkpoint/digest.h"
#include "tests/temp_folder.h"
#include "tests/torture/training.h"
#include "tests/train/run/observers.h"

namespace temper::tests {

struct Network {
  std::string name;
  std::vector<std::string> keys;
};

// One with BatchNorm and dropout, and next to no work; all with TEMPER_TORTURE.
inline std::vector<Network> networks(const TempFolder& folder) {
  const std::string file = folder.text("net.pt2");
  if (!std::filesystem::exists(file)) torture::write_small_network(file);
  const auto pictures = [](const char* name, int size) {
    return std::vector<std::string>{
        cat("model.name=", name),
        cat("data.source=synthetic:images=96,classes=4,size=", size),
        "data.augment=cifar"};
  };
  const auto with = [](std::vector<std::string> keys,
                       const std::vector<std::string>& more) {
    keys.insert(keys.end(), more.begin(), more.end());
    return keys;
  };
  std::vector<Network> all{{"pt2", pictures(file.c_str(), 8)}};
  if (std::getenv("TEMPER_TORTURE") == nullptr) return all;
  all.push_back({"cnn", pictures("cnn", 8)});
  all.push_back(
      {"resnet18",
       with(
           pictures("resnet18", 8),
           {"model.stem=cifar", "model.width=0.125"})});
  all.push_back(
      {"mobilenet_v2",
       with(
           pictures("mobilenet_v2", 16),
           {"model.stem=cifar", "model.width=0.25", "model.dropout=0.2"})});
  all.push_back({"vit_tiny", pictures("vit_tiny", 16)});
  all.push_back(
      {"mlp",
       {"model.name=mlp",
        "model.widths=[8]",
        "model.dropout=0.2",
        "data.source=synthetic:rows=96,features=6,classes=3"}});
  all.push_back(
      {"gpt_tiny",
       {"model.name=gpt_tiny",
        "data.source=synthetic:tokens=1600,vocabulary=16,sequence=16"}});
  return all;
}

// Three epochs of about a dozen steps, with momentum, averaged weights and a
// learning rate that drops in the second.
struct SmallRun {
  const TempFolder& folder;
  std::string name;
  std::vector<std::string> keys;

  std::vector<std::string> all_keys() const {
    std::vector<std::string> all{
        "run.dir=" + folder.text("runs"),
        "run.name=" + name,
        "device=cpu",
        "deterministic=true",
        "threads=1",
        "plan.seconds=0",
        "track.mlflow=off",
        "optimizer.name=sgd",
        "optimizer.momentum=0.9",
        "optimizer.lr=0.02",
        "schedule.name=step",
        "schedule.step=1.5",
        "schedule.gamma=0.5",
        "train.ema=0.9",
        "train.batch=8",
        "train.epochs=3",
        "train.log_every=1",
        "checkpoint.keep_last=9",
        "loader.workers=1"};
    all.insert(all.end(), keys.begin(), keys.end());
    return all;
  }

  std::vector<std::string> start_line() const {
    std::vector<std::string> line{"train"};
    for (const std::string& key : all_keys())
      line.insert(line.end(), {"--set", key});
    return line;
  }
  std::vector<std::string> resume_line(
      const std::vector<std::string>& changes) const {
    std::vector<std::string> line{
        "train", "--resume", directory().path.string()};
    for (const std::string& key : changes)
      line.insert(line.end(), {"--set", key});
    return line;
  }

  // The same in this process.
  train::RunRequest request() const {
    std::vector<config::Assignment> assignments;
    for (const std::string& key : all_keys())
      assignments.push_back(config::parse_assignment(key));
    train::RunRequest made;
    made.config = config::load(std::nullopt, assignments).config;
    made.machine = machine::probe(".");
    return made;
  }

  journal::RunDirectory directory() const {
    return {folder / "runs" / name};
  }
  checkpoint::Store checkpoints() const {
    return checkpoint::Store(directory().checkpoints());
  }
  std::string digest() const {
    return digest_of(directory().checkpoints());
  }
  std::vector<journal::Event> events(const std::string& kind) const {
    std::vector<journal::Event> found;
    for (auto& event : journal::read_journal(directory().journal()))
      if (event.kind == kind) found.push_back(event);
    return found;
  }
  // The values of all epochs.
  std::string metrics() const {
    std::string all;
    for (const auto& event : events("epoch"))
      for (const auto& [field, value] : event.fields)
        if (field.starts_with("train_") || field.starts_with("val_") ||
            field == "lr")
          all += journal::to_line({"", 1, {{field, value}}});
    return all;
  }

  // Incidents of the arithmetic; how fast a step was is the machine's affair.
  std::size_t incidents() const {
    std::size_t count = 0;
    for (const auto& event : events("incident"))
      count += event.find("before_s") == nullptr ? 1 : 0;
    return count;
  }

  // Bit for bit, and nothing told twice.
  void expect_same_as(const SmallRun& other) const {
    EXPECT_EQ(digest(), other.digest());
    EXPECT_EQ(metrics(), other.metrics());
    EXPECT_EQ(events("step").size(), other.events("step").size());
    EXPECT_EQ(incidents(), other.incidents());
    EXPECT_EQ(events("end").size(), 1U);
  }
};

// Runs until an event is the last that is wanted; the loop stops after the step
// under way.
inline train::Outcome run_until(
    train::RunRequest request,
    const std::function<bool(const journal::Event&)>& last) {
  bool stop = false;
  AtEvents observer(
      [&](const journal::Event& event) { stop = stop || last(event); });
  request.observer = &observer;
  request.control.stop = [&] { return stop; };
  return train::run(request).outcome;
}

inline std::function<bool(const journal::Event&)> after_update(
    std::int64_t update) {
  return [update](const journal::Event& event) {
    return event.kind == "step" && event.count("step") == update;
  };
}

} // namespace temper::tests
