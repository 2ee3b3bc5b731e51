#include "temper/track/mlflow/mlflow_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <random>

#include "temper/base/digest/md5.h"
#include "temper/base/file/file.h"
#include "temper/base/process/spawn.h"
#include "temper/base/text.h"
#include "temper/track/copy_artifact.h"
#include "temper/track/follow/identity.h"
#include "temper/track/mlflow/mlflow_lines.h"
#include "temper/track/mlflow/mlflow_logged_model.h"
#include "temper/track/mlflow/mlflow_model.h"
#include "temper/track/mlflow/yaml.h"

namespace temper::track {
namespace {

namespace fs = std::filesystem;

void make_folder(const fs::path& folder) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) refuse_to_write(folder, failed.message());
}

// Digits only: MLflow tells its own folders by that.
std::string new_experiment_id() {
  std::random_device device;
  std::string id(1, static_cast<char>('1' + device() % 9));
  while (id.size() < 18)
    id += static_cast<char>('0' + device() % 10);
  return id;
}

int status_number(Status status) {
  switch (status) {
    case Status::running:
      return 1;
    case Status::finished:
      return 3;
    case Status::failed:
      return 4;
    case Status::killed:
      return 5;
  }
  throw Bug("a status outside the table");
}

// The last point of a metric's file, "time value step" a line. Steps may go
// back in it.
StoredRun::Last last_of(const fs::path& metric) {
  StoredRun::Last last;
  std::ifstream in(metric);
  std::int64_t time_ms = 0;
  std::string value;
  std::int64_t step = 0;
  while (in >> time_ms >> value >> step) {
    last.time_ms = std::max(last.time_ms, time_ms);
    last.step = std::max(last.step, step);
  }
  return last;
}

} // namespace

MlflowFile::MlflowFile(const fs::path& folder)
    : folder_(fs::absolute(folder).lexically_normal()) {
  if (!folder_.has_filename()) folder_ = folder_.parent_path();
}

std::string MlflowFile::where() const {
  return cat("file://", folder_.string());
}

fs::path MlflowFile::run_folder() const {
  return folder_ / experiment_ / run_id_;
}

// Made outside the tree that readers walk.
void MlflowFile::write(const fs::path& file, const std::string& text) {
  make_folder(file.parent_path());
  const fs::path part = folder_ / ".trash" / cat(".", run_id_, ".part");
  {
    std::ofstream out(part, std::ios::binary);
    out << text;
    out.close();
    if (!out) refuse_to_write(file, "the disk does not take it");
  }
  std::error_code failed;
  fs::rename(part, file, failed);
  if (failed) refuse_to_write(file, failed.message());
}

bool MlflowFile::begin(const RunFacts& run, const std::string& memory) {
  tails_.clear();
  run_ = {run.directory};
  make_folder(folder_ / ".trash");
  // One at a time makes experiments and runs here.
  const Descriptor lock(::open(
      (folder_ / ".trash" / ".temper.lock").c_str(),
      O_RDWR | O_CREAT | O_CLOEXEC,
      0644));
  if (!lock.open() || ::flock(lock.get(), LOCK_EX) != 0)
    refuse_to_write(folder_, std::strerror(errno));
  if (!find_run(run, memory).empty()) {
    if (memory.empty() && !run.adopt.empty()) add_facts(run);
    return false;
  }
  run_id_ = run.key;
  experiment_ = find_experiment(run);
  make_run(run);
  return true;
}

bool MlflowFile::has_run(const std::string& id) {
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(folder_, failed))
    if (const auto yaml = read_small_file(entry.path() / id / "meta.yaml"))
      return yaml_value(*yaml, "lifecycle_stage") != "deleted";
  return false;
}

fs::path MlflowFile::folder_of(const std::string& run_id) const {
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(folder_, failed)) {
    const fs::path found = entry.path() / run_id;
    if (fs::exists(found / "meta.yaml", failed)) return found;
  }
  return {};
}

std::optional<StoredRun> MlflowFile::find(
    const RunFacts& run,
    const std::string& memory) {
  const auto slash = memory.find('/');
  StoredRun found;
  found.id = slash == std::string::npos ? run.key : memory.substr(slash + 1);
  const fs::path folder = folder_of(found.id);
  if (folder.empty()) return std::nullopt;
  const auto yaml = read_small_file(folder / "meta.yaml");
  if (!yaml || yaml_value(*yaml, "lifecycle_stage") == "deleted")
    return std::nullopt;
  found.memory = cat(folder.parent_path().filename().string(), "/", found.id);
  found.place = read_small_file(folder / "tags" / kPlaceTag).value_or("");
  const fs::path metrics = folder / "metrics";
  std::error_code failed;
  for (const auto& entry : fs::recursive_directory_iterator(metrics, failed))
    if (entry.is_regular_file(failed))
      found.metrics[entry.path().lexically_relative(metrics).string()] =
          last_of(entry.path());
  return found;
}

fs::path MlflowFile::find_run(const RunFacts& run, const std::string& memory) {
  const auto slash = memory.find('/');
  const std::string wanted = slash != std::string::npos
      ? memory.substr(slash + 1)
      : !run.adopt.empty() ? run.adopt
                           : run.key;
  if (const fs::path found = folder_of(wanted); !found.empty()) {
    experiment_ = found.parent_path().filename().string();
    run_id_ = wanted;
    return found;
  }
  if (memory.empty() && !run.adopt.empty())
    throw Error(
        cat("[track] MLFLOW_RUN_ID is ",
            run.adopt,
            ", and ",
            folder_.string(),
            " has no such run."),
        "Unset it to begin a new run.");
  return {};
}

std::string MlflowFile::find_experiment(const RunFacts& run) {
  const bool by_id = !run.experiment_id.empty();
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(folder_, failed)) {
    const auto yaml = read_small_file(entry.path() / "meta.yaml");
    const std::string id = entry.path().filename().string();
    if (!yaml || yaml_value(*yaml, "experiment_id") != id) continue;
    if (by_id ? id == run.experiment_id
              : yaml_value(*yaml, "name") == run.experiment)
      return id;
  }
  if (by_id)
    throw Error(
        cat("[track] MLFLOW_EXPERIMENT_ID is ",
            run.experiment_id,
            ", and ",
            folder_.string(),
            " has no such experiment."),
        "Name one with track.experiment: it is made when it is missing.");
  const auto make = [&](const std::string& id, const std::string& name) {
    make_folder(folder_ / id);
    write(
        folder_ / id / "meta.yaml",
        cat("artifact_location: ",
            yaml_text(cat(folder_.filename().string(), "/", id)),
            "\ncreation_time: ",
            now_ms(),
            "\nexperiment_id: ",
            yaml_text(id),
            "\nlast_update_time: ",
            now_ms(),
            "\nlifecycle_stage: active\nname: ",
            yaml_text(name),
            "\n"));
  };
  // MLflow makes it in every store.
  if (!fs::exists(folder_ / "0" / "meta.yaml", failed)) make("0", "Default");
  if (run.experiment == "Default") return "0";
  const std::string id = new_experiment_id();
  make(id, run.experiment);
  return id;
}

void MlflowFile::make_run(const RunFacts& run) {
  // All three must be there, or the run is not.
  for (const char* name : {"metrics", "params", "artifacts", "tags"})
    make_folder(run_folder() / name);
  add_facts(run);
  // Last: with it the run is there. Relative, so that the folder may move.
  write(
      run_folder() / "meta.yaml",
      cat("artifact_uri: ",
          yaml_text(
              cat(folder_.filename().string(),
                  "/",
                  experiment_,
                  "/",
                  run_id_,
                  "/artifacts")),
          "\nend_time: null\nentry_point_name: ''\nexperiment_id: ",
          yaml_text(experiment_),
          "\nlifecycle_stage: active\nrun_id: ",
          yaml_text(run_id_),
          "\nrun_name: ",
          yaml_text(run.name),
          "\nsource_name: ''\nsource_type: 4\nsource_version: ''\n"
          "start_time: ",
          run.start_ms,
          "\nstatus: 1\ntags: []\nuser_id: ",
          yaml_text(run.user),
          "\n"));
}

void MlflowFile::add_facts(const RunFacts& run) {
  std::error_code failed;
  for (const Pair& param : run.params)
    if (const fs::path file = run_folder() / "params" / param.key;
        !fs::exists(file, failed))
      write(file, param.value);
  for (const Pair& tag : run.tags)
    if (run.adopt.empty() || tag.key != "mlflow.runName") set_tag(tag);
  for (const Dataset& dataset : run.datasets)
    add_dataset(dataset);
}

void MlflowFile::add_dataset(const Dataset& dataset) {
  const std::string id = md5_hex(dataset.name + dataset.digest);
  const auto text = [](const std::string& value) {
    return value.empty() ? std::string("null") : yaml_text(value);
  };
  write(
      folder_ / experiment_ / "datasets" / id / "meta.yaml",
      cat("digest: ",
          yaml_text(dataset.digest),
          "\nname: ",
          yaml_text(dataset.name),
          "\nprofile: ",
          text(dataset.profile),
          "\nschema: ",
          text(dataset.schema),
          "\nsource: ",
          yaml_text(dataset.source),
          "\nsource_type: ",
          yaml_text(dataset.source_type),
          "\n"));
  write(
      run_folder() / "inputs" / md5_hex(id + run_id_) / "meta.yaml",
      cat("destination_id: ",
          yaml_text(id),
          "\ndestination_type: RUN\nsource_id: ",
          yaml_text(id),
          "\nsource_type: DATASET\ntags:\n  mlflow.data.context: ",
          yaml_text(dataset.context),
          "\n"));
}

void MlflowFile::set_tag(const Pair& tag) {
  write(run_folder() / "tags" / tag.key, tag.value);
}

void MlflowFile::add_model(const LoggedModel& model) {
  const fs::path folder = folder_ / experiment_ / "models" / model.id;
  for (const char* name : {"metrics", "params", "tags"})
    make_folder(folder / name);
  std::error_code failed;
  const fs::path params = run_folder() / "params";
  fs::copy(
      params,
      folder / "params",
      fs::copy_options::recursive | fs::copy_options::overwrite_existing,
      failed);
  const std::string place =
      cat(folder_.filename().string(),
          "/",
          experiment_,
          "/",
          run_id_,
          "/artifacts/");
  write(
      folder / "meta.yaml",
      logged_model_yaml(model, run_id_, experiment_, place + model.folder));
  for (const auto& tag : fs::directory_iterator(run_folder() / "tags", failed))
    if (is_model_tag(tag.path().filename().string()))
      write(
          folder / "tags" / tag.path().filename(),
          read_small_file(tag.path()).value_or(""));
  for (const Point& point : model_points(run_))
    write(
        folder / "metrics" / point.key,
        cat(point.time_ms,
            " ",
            python_number(point.value),
            " ",
            point.step,
            " ",
            run_id_,
            "\n"));
  write(
      run_folder() / "outputs" / model.id / "meta.yaml",
      model_output_yaml(model));
}

void MlflowFile::add_points(const std::vector<Point>& points) {
  std::map<std::string, std::string> lines;
  for (const Point& point : points) {
    const fs::path file = run_folder() / "metrics" / point.key;
    auto tail = tails_.find(point.key);
    if (tail == tails_.end())
      tail = tails_.emplace(point.key, last_lines(file)).first;
    const std::string line =
        cat(point.time_ms, " ", python_number(point.value), " ", point.step);
    if (tail->second.count(line) == 0) lines[point.key] += line + "\n";
  }
  for (const auto& [key, text] : lines) {
    const fs::path file = run_folder() / "metrics" / key;
    make_folder(file.parent_path());
    append_lines(file, text);
  }
  // From here on nothing comes twice: a failure begins anew.
  for (auto& [key, tail] : tails_)
    tail.clear();
}

void MlflowFile::set_status(const StatusChange& change) {
  const fs::path file = run_folder() / "meta.yaml";
  const auto before = read_small_file(file);
  if (!before) refuse_to_write(file, "it is gone");
  std::string after;
  for (const std::string& line : split(*before, '\n')) {
    if (line.empty()) continue;
    if (line.starts_with("status:"))
      after += cat("status: ", status_number(change.status));
    else if (line.starts_with("end_time:"))
      after += change.status == Status::running
          ? std::string("end_time: null")
          : cat("end_time: ", change.time_ms);
    else
      after += line;
    after += '\n';
  }
  write(file, after);
}

void MlflowFile::deliver(const Delivery& batch) {
  for (const Artifact& artifact : batch.artifacts) {
    copy_artifact(artifact, run_folder() / "artifacts");
    if (const auto tag = model_history_tag(artifact, run_id_)) set_tag(*tag);
    if (const auto model = logged_model_of(artifact)) add_model(*model);
  }
  add_points(batch.points);
  for (const Pair& tag : batch.tags)
    set_tag(tag);
  if (batch.status) set_status(*batch.status);
}

} // namespace temper::track
