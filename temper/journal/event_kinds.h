// The words of the journal, said once for those who write it and those who read
// it: kinds of events, and values of fields that name one of a few things.
// docs/journal.md explains them. A word that stands in a file stays.
#pragma once

namespace temper::journal {

// Event::kind.
namespace kinds {
inline constexpr const char* kRun = "run";
inline constexpr const char* kResume = "resume";
inline constexpr const char* kForecast = "forecast";
inline constexpr const char* kNote = "note";
inline constexpr const char* kForecastCheck = "forecast_check";
inline constexpr const char* kMicroBatch = "micro_batch";
inline constexpr const char* kLeak = "leak";
inline constexpr const char* kStep = "step";
inline constexpr const char* kEpoch = "epoch";
inline constexpr const char* kTest = "test";
inline constexpr const char* kCheckpoint = "checkpoint";
inline constexpr const char* kCheckpointFailed = "checkpoint_failed";
inline constexpr const char* kGradients = "gradients";
inline constexpr const char* kRetry = "retry";
inline constexpr const char* kRollback = "rollback";
inline constexpr const char* kIncident = "incident";
inline constexpr const char* kHang = "hang";
inline constexpr const char* kDeath = "death";
inline constexpr const char* kSystem = "system";
inline constexpr const char* kArtifact = "artifact";
inline constexpr const char* kEnd = "end";
} // namespace kinds

// `status` of an end.
namespace statuses {
inline constexpr const char* kDone = "done";
inline constexpr const char* kStoppedEarly = "stopped early";
inline constexpr const char* kStopped = "stopped";
inline constexpr const char* kFailed = "failed";
} // namespace statuses

// `what` of an incident.
namespace incidents {
inline constexpr const char* kNotFinite = "not finite";
inline constexpr const char* kOverflow = "overflow";
inline constexpr const char* kSlower = "slower";
inline constexpr const char* kAsFastAgain = "as fast again";
inline constexpr const char* kNotAsPlanned = "not as planned";
} // namespace incidents

// `then` of an incident that was not finite.
namespace reactions {
inline constexpr const char* kSkip = "skip";
inline constexpr const char* kRollback = "rollback";
inline constexpr const char* kStop = "stop";
} // namespace reactions

} // namespace temper::journal
