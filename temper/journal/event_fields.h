// The names of the fields of events, said once for those who write them and
// those who read them. docs/journal.md says which kind has which.
#pragma once

namespace temper::journal::fields {

inline constexpr const char* kNumber = "number";
inline constexpr const char* kName = "name";
inline constexpr const char* kId = "id";
inline constexpr const char* kVersion = "version";
inline constexpr const char* kConfig = "config";
inline constexpr const char* kPlan = "plan";
inline constexpr const char* kMachine = "machine";
inline constexpr const char* kWriter = "writer";
inline constexpr const char* kOrigin = "origin";
inline constexpr const char* kPrepareS = "prepare_s";
inline constexpr const char* kStep = "step";
inline constexpr const char* kUpdate = "update";
inline constexpr const char* kUpdates = "updates";
inline constexpr const char* kEpoch = "epoch";
inline constexpr const char* kLoss = "loss";
inline constexpr const char* kLr = "lr";
inline constexpr const char* kGradNorm = "grad_norm";
inline constexpr const char* kSamples = "samples";
inline constexpr const char* kSamplesPerS = "samples_per_s";
inline constexpr const char* kWait = "wait";
inline constexpr const char* kWaitS = "wait_s";
inline constexpr const char* kMicroBatch = "micro_batch";
inline constexpr const char* kMemoryBytes = "memory_bytes";
inline constexpr const char* kSeconds = "seconds";
inline constexpr const char* kValidationS = "validation_s";
inline constexpr const char* kBest = "best";
inline constexpr const char* kAtOnce = "at_once";
inline constexpr const char* kBatch = "batch";
inline constexpr const char* kBeforeS = "before_s";
inline constexpr const char* kBestEpoch = "best_epoch";
inline constexpr const char* kBestMetric = "best_metric";
inline constexpr const char* kBottleneck = "bottleneck";
inline constexpr const char* kBudget = "budget";
inline constexpr const char* kBudgetBytes = "budget_bytes";
inline constexpr const char* kBytes = "bytes";
inline constexpr const char* kBytesPerStep = "bytes_per_step";
inline constexpr const char* kCause = "cause";
inline constexpr const char* kClassAccuracy = "class_accuracy";
inline constexpr const char* kClasses = "classes";
inline constexpr const char* kCode = "code";
inline constexpr const char* kConfusion = "confusion";
inline constexpr const char* kError = "error";
inline constexpr const char* kFits = "fits";
inline constexpr const char* kForecastBytes = "forecast_bytes";
inline constexpr const char* kForgotten = "forgotten";
inline constexpr const char* kFrom = "from";
inline constexpr const char* kGrownBytes = "grown_bytes";
inline constexpr const char* kHistograms = "histograms";
inline constexpr const char* kHow = "how";
inline constexpr const char* kInHand = "in_hand";
inline constexpr const char* kKernel = "kernel";
inline constexpr const char* kLrFactor = "lr_factor";
inline constexpr const char* kMeasuredBytes = "measured_bytes";
inline constexpr const char* kMemoryKills = "memory_kills";
inline constexpr const char* kParts = "parts";
inline constexpr const char* kPath = "path";
inline constexpr const char* kPeakBytes = "peak_bytes";
inline constexpr const char* kPhase = "phase";
inline constexpr const char* kRestart = "restart";
inline constexpr const char* kSignal = "signal";
inline constexpr const char* kSilentS = "silent_s";
inline constexpr const char* kStacks = "stacks";
inline constexpr const char* kStatus = "status";
inline constexpr const char* kStepS = "step_s";
inline constexpr const char* kSuspect = "suspect";
inline constexpr const char* kText = "text";
inline constexpr const char* kThen = "then";
inline constexpr const char* kTo = "to";
inline constexpr const char* kTrainAccuracy = "train_accuracy";
inline constexpr const char* kTrainR2 = "train_r2";
inline constexpr const char* kWhat = "what";
inline constexpr const char* kWholeBatchBytes = "whole_batch_bytes";
inline constexpr const char* kWhy = "why";

// Before the name of each metric: "train_loss".
inline constexpr const char* kTrainPrefix = "train_";
inline constexpr const char* kValPrefix = "val_";
inline constexpr const char* kTestPrefix = "test_";

} // namespace temper::journal::fields
