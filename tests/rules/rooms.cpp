#include "rooms.h"

#include <algorithm>

namespace temper::rules {
namespace {

template <class Named>
const Named* find(const std::vector<Named>& among, const std::string& name) {
  const auto found =
      std::find_if(among.begin(), among.end(), [&](const Named& one) {
        return one.name == name;
      });
  return found == among.end() ? nullptr : &*found;
}

} // namespace

const Corner* Room::corner(const std::string& called) const {
  return find(corners, called);
}

// From the bottom to the top: a room uses rooms above its own line only, a
// corner likewise those of its room.
const std::vector<Room>& rooms() {
  static const std::vector<Room> table{
      {"base",
       {},
       {{".", {}},
        {"digest", {"."}},
        {"file", {"digest", "."}},
        {"random", {"."}},
        {"process", {".", "file"}},
        {"net", {"."}}}},
      {"libtorch",
       {"base"},
       {{"sim", {}}, {".", {"sim"}}, {"torch", {"sim", "."}}}},
      {"machine",
       {"base", "libtorch"},
       {{".", {}}, {"linux", {"."}}, {"mac", {"."}}}},
      {"memory",
       {"base", "libtorch", "machine"},
       {{".", {}}, {"torch", {"."}}}},
      {"config", {"base"}, {}},
      {"journal", {"base"}, {}},
      {"kernels", {"base"}, {}},
      {"data",
       {"base", "kernels"},
       {{"sample", {}},
        {"codec", {"sample"}},
        {"format", {"sample", "codec"}},
        {"fetch", {"format"}},
        {"content", {"fetch"}},
        {"source", {"sample", "codec", "format", "content"}},
        {"transform", {"sample"}},
        {"tune", {}},
        {"loader", {"sample", "transform", "tune"}},
        {"pack", {"sample", "content", "loader"}},
        {"open", {"sample", "codec", "fetch", "source", "pack"}},
        {"feature", {"sample", "fetch"}},
        {"inspect", {"sample", "transform", "loader"}}}},
      {"graph",
       {"base"},
       {{"ir", {}},
        {"op", {"ir"}},
        {"infer", {"ir", "op"}},
        {"build", {"ir", "op", "infer"}},
        {"pt2", {"ir", "op"}},
        {"cost", {"ir", "op", "infer"}},
        {"pass", {"ir", "op", "infer", "build", "cost"}}}},
      {"weights", {"base", "graph"}, {}},
      {"model",
       {"base", "libtorch", "graph", "weights"},
       {{"zoo", {}},
        {"module", {}},
        {"executor", {"module"}},
        {"export", {}},
        {"script", {"module", "executor", "export"}}}},
      {"checkpoint", {"base", "graph", "weights"}, {}},
      {"plan", {"base", "machine", "config"}, {}},
      {"train",
       {"base",
        "libtorch",
        "machine",
        "memory",
        "config",
        "journal",
        "kernels",
        "data",
        "graph",
        "weights",
        "model",
        "checkpoint",
        "plan"},
       {{"metrics", {}},
        {"schedule", {}},
        {"setup", {"schedule"}},
        {"watch", {"setup"}},
        {"engine", {"metrics", "setup", "watch"}},
        {"task", {"metrics", "engine"}},
        {"optimizer", {"schedule", "engine", "task"}},
        {"torch",
         {"metrics", "schedule", "setup", "engine", "task", "optimizer"}},
        {"transfer", {"setup", "engine"}},
        {"forecast", {"schedule", "setup", "engine"}},
        {"calibrate", {"schedule", "engine"}},
        {"loop",
         {"metrics", "schedule", "setup", "watch", "engine", "forecast"}},
        {"run",
         {"metrics",
          "schedule",
          "setup",
          "watch",
          "engine",
          "transfer",
          "forecast",
          "calibrate",
          "loop"}}}},
      {"supervise", {"base", "machine", "journal"}, {}},
      {"track",
       {"base", "journal"},
       {{".", {}},
        {"follow", {"."}},
        {"mlflow", {".", "follow"}},
        {"tensorboard", {"."}},
        {"open", {"follow", "mlflow", "tensorboard"}}}},
      {"plot", {"base"}, {}},
      {"session",
       {"base",
        "libtorch",
        "machine",
        "config",
        "journal",
        "data",
        "graph",
        "weights",
        "model",
        "train",
        "supervise",
        "track",
        "plot"},
       {}},
      {"doctor", {"base", "libtorch", "machine", "kernels"}, {}},
      {"cli",
       {"base",
        "libtorch",
        "machine",
        "config",
        "journal",
        "data",
        "graph",
        "weights",
        "model",
        "plan",
        "train",
        "supervise",
        "track",
        "session",
        "doctor"},
       {{"terminal", {}},
        {"view", {"terminal"}},
        {"commands", {"terminal", "view"}},
        {".", {"commands"}}}},
  };
  return table;
}

const Room* room_of(const std::string& name) {
  return find(rooms(), name);
}

} // namespace temper::rules
