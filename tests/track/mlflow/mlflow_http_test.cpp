#include "temper/track/mlflow/mlflow_http.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <thread>

#include "temper/base/log.h"
#include "temper/track/follow/journal_delivery.h"
#include "temper/track/follow/tracking.h"
#include "tests/temp_folder.h"
#include "tests/track/journal_samples.h"
#include "tests/track/mlflow/mlflow_server.h"
#include "tests/wait_until.h"

namespace temper::track {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class MlflowHttpTest : public testing::Test {
 protected:
  MlflowHttpTest() {
    before_ = log::set_sink([this](log::Level, const std::string& line) {
      const std::lock_guard lock(logging_);
      logged_ += line + "\n";
    });
  }
  ~MlflowHttpTest() override {
    log::set_sink(before_);
    EXPECT_THAT(server_.complaints(), IsEmpty());
  }

  journal::RunDirectory written(const std::string& name, int steps) {
    const auto run = made_run(folder_.path() / "runs", name);
    journal::Journal journal(run.journal());
    journal.append(run_event());
    for (int step = 1; step <= steps; ++step)
      journal.append(step_event(step, 1.0 / step));
    return run;
  }
  void deliver(const journal::RunDirectory& run, HttpSettings settings = {}) {
    MlflowHttp tracker(server_.url(), settings);
    JournalDelivery follow(run, tracker, "x");
    while (follow.pump()) {
    }
  }
  std::string refusal(const HttpSettings& settings = {}) {
    try {
      deliver(written(cat("r", ++refusals_), 1), settings);
    } catch (const Error& error) {
      return cat(error.what(), " ", error.hint());
    }
    return "none";
  }
  // Asks until it is so, for as long as a slow machine needs.
  static std::int64_t lines_behind(
      Tracking& tracking,
      const std::function<bool(std::int64_t)>& enough) {
    std::int64_t lines = 0;
    for (int i = 0; i < 3000; ++i) {
      lines = tracking.lag().at(0).lines;
      if (enough(lines)) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return lines;
  }
  static std::size_t count_of(const std::string& text, const char* part) {
    std::size_t count = 0;
    for (auto at = text.find(part); at != std::string::npos;
         at = text.find(part, at + 1))
      ++count;
    return count;
  }
  ServerRun only_run() {
    const auto runs = server_.runs();
    EXPECT_EQ(runs.size(), 1U);
    return runs.empty() ? ServerRun{} : runs.begin()->second;
  }
  std::size_t points(const std::string& key) {
    std::size_t count = 0;
    for (const auto& metric : only_run().metrics)
      count += std::get<0>(metric) == key ? 1 : 0;
    return count;
  }
  std::string logged() {
    const std::lock_guard lock(logging_);
    return logged_;
  }

  tests::TempFolder folder_;
  MlflowServer server_;
  std::mutex logging_;
  std::string logged_;
  log::Sink before_;
  int refusals_ = 0;
};

TEST_F(MlflowHttpTest, ARunIsOnTheServer) {
  const auto run = written("first", 3);
  {
    journal::Journal journal(run.journal());
    journal.append(step_event(4, std::nan("")));
    journal.append(step_event(5, HUGE_VAL));
    journal.append(step_event(6, -HUGE_VAL));
    journal.append(end_event("done"));
  }
  deliver(run);
  const ServerRun made = only_run();
  EXPECT_EQ(made.status, "FINISHED");
  EXPECT_EQ(made.end_time, 1'700'001'000'000);
  EXPECT_EQ(made.params.at("optimizer.name"), "adamw");
  EXPECT_EQ(made.tags.at("mlflow.runName"), "first");
  EXPECT_EQ(made.tags.at("mlflow.source.git.commit"), "0123abcd");
  EXPECT_EQ(made.datasets.size(), 2U);
  EXPECT_THAT(
      made.metrics,
      testing::IsSupersetOf(
          {std::tuple("loss", 1, 1'700'000'002'000, "1.0"),
           std::tuple("loss", 4, 1'700'000'005'000, "NaN"),
           std::tuple("loss", 5, 1'700'000'006'000, "Infinity"),
           std::tuple("loss", 6, 1'700'000'007'000, "-Infinity")}));
  EXPECT_EQ(points("loss"), 6U);
}

TEST_F(MlflowHttpTest, ArtifactsGoThroughTheServer) {
  const auto run = written("first", 1);
  tests::write_bytes(run.artifacts() / "a b.txt", std::string("x\0y", 3));
  {
    journal::Journal journal(run.journal());
    journal.append(
        {"artifact",
         1'700'000'500,
         {{"path", std::string("artifacts/a b.txt")},
          {"name", std::string("sub/a b.txt")}}});
  }
  deliver(run);
  const auto kept = server_.artifacts();
  const std::string root =
      cat("1/", server_.runs().begin()->first, "/artifacts/");
  ASSERT_EQ(kept.count(root + "sub/a b.txt"), 1U);
  EXPECT_EQ(kept.at(root + "sub/a b.txt"), std::string("x\0y", 3));
  EXPECT_EQ(kept.at(root + "config.toml"), "seed = 7\n");
}

TEST_F(MlflowHttpTest, AModelIsALoggedModelOfMlflow3) {
  const auto run = written("first", 1);
  journal::Journal journal(run.journal());
  journal.append(epoch_event(1, 0.75));
  journal.append(epoch_event(2, 0.875, false));
  journal.append(kept_model(run));
  deliver(run);
  const auto models = server_.models();
  ASSERT_EQ(models.size(), 1U);
  const auto& [id, model] = *models.begin();
  EXPECT_EQ(model.name, "model");
  EXPECT_EQ(model.run, server_.runs().begin()->first);
  EXPECT_EQ(model.status, "LOGGED_MODEL_READY");
  EXPECT_TRUE(model.is_output);
  EXPECT_EQ(model.metrics.at("val_loss"), "0.75");
  EXPECT_EQ(model.metrics.size(), 1U);
  EXPECT_EQ(points("val_loss"), 2U);
  EXPECT_EQ(model.params.at("seed"), "7");
  EXPECT_EQ(model.tags.at("mlflow.user"), "ada");
  const auto kept = server_.artifacts();
  for (const char* name : {"MLmodel", "model.pt2", "code/temper_model.py"})
    EXPECT_EQ(kept.count(cat("1/models/", id, "/artifacts/", name)), 1U)
        << name;
}

// A request takes a hundred.
TEST_F(MlflowHttpTest, AModelHasAllSettingsOfTheRun) {
  const auto run = written("first", 1);
  kept_model(run);
  RunFacts facts;
  facts.key = std::string(32, 'a');
  facts.name = "first";
  facts.experiment = "temper";
  facts.directory = run.path;
  for (int i = 0; i < 230; ++i)
    facts.params.push_back({cat("key.", i), cat(i)});
  MlflowHttp tracker(server_.url(), {});
  tracker.begin(facts, "");
  Delivery batch;
  batch.artifacts = {{run.artifacts() / "model/MLmodel", "model/MLmodel"}};
  tracker.deliver(batch);
  const auto models = server_.models();
  ASSERT_EQ(models.size(), 1U);
  const auto& params = models.begin()->second.params;
  EXPECT_EQ(params.size(), 230U);
  EXPECT_EQ(params.at("key.229"), "229");
}

TEST_F(MlflowHttpTest, AServerOfMlflow2GetsTheModelAsArtifacts) {
  server_.forget_models();
  const auto run = written("first", 1);
  journal::Journal(run.journal()).append(kept_model(run));
  deliver(run);
  const std::string root =
      cat("1/", server_.runs().begin()->first, "/artifacts/");
  EXPECT_EQ(server_.artifacts().count(root + "model/MLmodel"), 1U);
  EXPECT_EQ(points("loss"), 1U);
}

TEST_F(MlflowHttpTest, ArtifactsElsewhereAreLeftOutAndThatIsSaid) {
  server_.keep_artifacts_in("s3://bucket");
  deliver(written("first", 1));
  EXPECT_THAT(logged(), HasSubstr("s3://bucket"));
  EXPECT_EQ(points("loss"), 1U);
}

TEST_F(MlflowHttpTest, ManyPointsKeepTheLimitsOfARequest) {
  deliver(written("first", 2500));
  EXPECT_EQ(points("loss"), 2500U);
}

TEST_F(MlflowHttpTest, TheNextSessionGoesOnWithTheSameRun) {
  const auto run = written("first", 3);
  deliver(run);
  journal::Journal(run.journal()).append(step_event(4, 0.5));
  deliver(run);
  EXPECT_EQ(points("loss"), 4U);
}

TEST_F(MlflowHttpTest, ALostAnswerLeavesNoSecondRun) {
  const auto run = written("first", 3);
  // get-by-name twice, create of the experiment, search, and then the run's
  // own.
  server_.expect(
      {Fault::none, Fault::none, Fault::none, Fault::none, Fault::half});
  EXPECT_THROW(deliver(run), Unavailable);
  deliver(run);
  EXPECT_EQ(points("loss"), 3U);
}

TEST_F(MlflowHttpTest, AServerThatForgotTheRunGetsItAgain) {
  const auto run = written("first", 3);
  deliver(run);
  server_.forget_runs();
  deliver(run);
  EXPECT_EQ(points("loss"), 3U);
}

TEST_F(MlflowHttpTest, EveryAuthenticationMlflowHas) {
  HttpSettings settings;
  settings.username = "ada";
  settings.password = "pa:ss";
  server_.demand("Basic YWRhOnBhOnNz");
  deliver(written("basic", 1), settings);
  settings = {};
  settings.token = "secret-token";
  server_.demand("Bearer secret-token");
  deliver(written("bearer", 1), settings);
  EXPECT_EQ(server_.runs().size(), 2U);
}

TEST_F(MlflowHttpTest, AUserInTheAddressIsSentAndNeverShown) {
  server_.demand("Basic YWRhOnB3ZA==");
  const std::string host = server_.url().substr(7);
  const auto run = written("first", 1);
  MlflowHttp tracker("http://ada:pwd@" + host, {});
  EXPECT_EQ(tracker.where(), server_.url());
  JournalDelivery follow(run, tracker, "x");
  while (follow.pump()) {
  }
  EXPECT_EQ(points("loss"), 1U);
}

TEST_F(MlflowHttpTest, SecretsAreInNoErrorLogOrFile) {
  HttpSettings settings;
  settings.username = "ada";
  settings.password = "opensesame";
  settings.token = "tok-123456";
  server_.demand("Basic something else");
  EXPECT_THAT(refusal(settings), HasSubstr("MLFLOW_TRACKING_USERNAME"));
  server_.demand("");
  server_.add_to_messages(
      " you sent opensesame, tok-123456 and YWRhOm9wZW5zZXNhbWU=");
  settings.workspace = "w";
  const auto run = written("first", 1);
  FollowOptions options;
  options.experiment_id = "77"; // there is none: the server says why
  MlflowHttp tracker(server_.url(), settings);
  JournalDelivery follow(run, tracker, "x", options);
  std::string said;
  try {
    follow.pump();
  } catch (const Error& error) {
    said = error.what();
  }
  EXPECT_THAT(said, HasSubstr("no such experiment"));
  said += logged();
  for (const auto& file :
       std::filesystem::recursive_directory_iterator(folder_.path()))
    if (file.is_regular_file()) said += tests::read_bytes(file.path());
  for (const char* secret :
       {"opensesame", "tok-123456", "YWRhOm9wZW5zZXNhbWU="})
    EXPECT_THAT(said, Not(HasSubstr(secret)));
}

TEST_F(MlflowHttpTest, EachTroubleIsExplained) {
  server_.expect({Fault::unauthorised});
  EXPECT_THAT(refusal(), HasSubstr("MLFLOW_TRACKING_TOKEN"));
  server_.expect({Fault::html});
  EXPECT_THAT(refusal(), HasSubstr("login page"));
  server_.expect({Fault::server_error});
  EXPECT_THAT(refusal(), HasSubstr("status 500"));
  server_.expect({Fault::wrong_json});
  EXPECT_THAT(refusal(), HasSubstr("not MLflow's"));
  server_.expect({Fault::half});
  EXPECT_THAT(refusal(), HasSubstr("cannot reach"));
  HttpSettings hasty;
  hasty.timeout_s = 0.2;
  server_.expect({Fault::hang});
  EXPECT_THAT(refusal(hasty), HasSubstr("overloaded"));
  server_.stop();
  EXPECT_THAT(refusal(), HasSubstr("Is the server running"));
  server_.start_again();
  const std::string address = server_.url() + "/elsewhere";
  const auto run = written("elsewhere", 1);
  MlflowHttp tracker(address, {});
  JournalDelivery follow(run, tracker, "x");
  try {
    follow.pump();
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("no MLflow server at"));
  }
}

TEST_F(MlflowHttpTest, AHangingRequestIsGivenUpWhenAsked) {
  server_.expect({Fault::hang});
  const auto run = written("first", 1);
  MlflowHttp tracker(server_.url(), {});
  JournalDelivery follow(run, tracker, "x");
  std::thread impatient([&] {
    // The request is there and gets no answer.
    tests::wait_until([&] { return server_.faults_left() == 0; });
    tracker.give_up();
  });
  EXPECT_THROW(follow.pump(), Unavailable);
  impatient.join();
  server_.stop();
}

// The whole of it: a run that is being written while the server refuses,
// hangs, fails, lies, cuts its answers and is restarted.
TEST_F(MlflowHttpTest, EveryPointArrivesOnceThroughChaos) {
  const auto run = written("first", 1);
  Options options;
  options.mlflow = server_.url();
  options.environment = {{"MLFLOW_HTTP_REQUEST_TIMEOUT", "0.5"}};
  server_.expect(
      {Fault::half,         Fault::none,        Fault::lost, Fault::none,
       Fault::none,         Fault::half,        Fault::none, Fault::wrong_json,
       Fault::html,         Fault::none,        Fault::none, Fault::none,
       Fault::server_error, Fault::none,        Fault::none, Fault::hang,
       Fault::lost,         Fault::unavailable, Fault::none, Fault::none,
       Fault::half,         Fault::wrong_json});
  {
    const auto tracking = start(run.path, options);
    journal::Journal journal(run.journal());
    for (int step = 2; step <= 300; ++step) {
      journal.append(step_event(step, 1.0 / step));
      if (step == 100) server_.stop();
      if (step == 200) server_.start_again();
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    journal.append(end_event("done"));
    // Each failure while the user waits costs a second.
    const auto left = tracking->finish(60);
    ASSERT_EQ(left.size(), 1U);
    EXPECT_EQ(left[0].command, "") << left[0].why;
  }
  EXPECT_EQ(server_.faults_left(), 0U);
  EXPECT_EQ(points("loss"), 300U);
  EXPECT_EQ(points("lr"), 300U);
  EXPECT_EQ(only_run().status, "FINISHED");
}

TEST_F(MlflowHttpTest, AServerThatIsGoneIsALagThatIsSaidOnceAndEnds) {
  server_.stop();
  const auto run = written("r", 40);
  Options options;
  options.mlflow = server_.url();
  const auto tracking = start(run.path, options);
  EXPECT_EQ(lines_behind(*tracking, [](auto lines) { return lines > 0; }), 41);
  EXPECT_EQ(tracking->lag().at(0).kind, Target::Kind::http);
  EXPECT_THAT(logged(), HasSubstr("Training goes on; 41 lines of the journal"));
  server_.start_again();
  EXPECT_EQ(lines_behind(*tracking, [](auto lines) { return lines == 0; }), 0);
  EXPECT_THAT(logged(), HasSubstr("is there again; nothing was lost"));
  EXPECT_EQ(count_of(logged(), "Training goes on"), 1U) << logged();
  EXPECT_EQ(count_of(logged(), "is there again"), 1U) << logged();
  EXPECT_EQ(points("loss"), 40U);
}

TEST_F(MlflowHttpTest, AServerThatIsDownIsNotWaitedForAsLongAsASlowOne) {
  server_.stop();
  const auto run = written("r", 5);
  Options options;
  options.mlflow = server_.url();
  const auto tracking = start(run.path, options);
  // A minute and a half would be noticed; the time itself is not asserted.
  const auto left = tracking->finish(90, Status::failed, 0.1);
  ASSERT_EQ(left.size(), 1U);
  EXPECT_THAT(left[0].why, HasSubstr("cannot reach"));
  EXPECT_GT(left[0].lines, 0);
  EXPECT_EQ(count_of(logged(), "cannot reach"), 1U) << logged();
}

TEST_F(MlflowHttpTest, ASilentServerIsALagBeforeItsTimeIsUp) {
  server_.expect({Fault::hang});
  const auto run = written("r", 9);
  Options options;
  options.mlflow = server_.url();
  options.slow_s = 0.1;
  const auto tracking = start(run.path, options);
  EXPECT_EQ(lines_behind(*tracking, [](auto lines) { return lines > 0; }), 10);
  EXPECT_THAT(tracking->lag().at(0).why, HasSubstr("does not answer"));
  EXPECT_THAT(tracking->silent(), ElementsAre(server_.url()));
  EXPECT_THAT(logged(), HasSubstr("10 lines of the journal wait"));
}

TEST_F(MlflowHttpTest, WhatIsLeftAtTheEndIsSaidAndDeliveredLater) {
  const auto run = written("first", 5);
  Options options;
  options.mlflow = server_.url();
  server_.stop();
  std::string command;
  {
    const auto tracking = start(run.path, options);
    const auto left = tracking->finish(0.3, Status::failed);
    ASSERT_EQ(left.size(), 1U);
    EXPECT_THAT(left[0].why, HasSubstr("cannot reach"));
    EXPECT_THAT(
        left[0].command,
        AllOf(HasSubstr("temper runs export"), HasSubstr(server_.url())));
  }
  server_.start_again();
  const auto delivered = deliver_run(
      run.path, parse_target(server_.url()), options, Status::killed);
  EXPECT_EQ(delivered.points, 10);
  EXPECT_EQ(only_run().status, "KILLED");
}

TEST(HttpSettings, AreMlflowsVariablesAndItsCredentialsFile) {
  tests::TempFolder home;
  home.write(
      ".mlflow/credentials",
      "[other]\nmlflow_tracking_username = wrong\n"
      "[mlflow]\nmlflow_tracking_username = ada\n"
      "mlflow_tracking_password = from file\n");
  Environment environment{{"HOME", home.text()}};
  EXPECT_EQ(http_settings(environment).username, "ada");
  EXPECT_EQ(http_settings(environment).password, "from file");
  environment["MLFLOW_TRACKING_PASSWORD"] = "from variable";
  environment["MLFLOW_TRACKING_INSECURE_TLS"] = "true";
  environment["MLFLOW_HTTP_REQUEST_TIMEOUT"] = "7";
  EXPECT_EQ(http_settings(environment).username, "ada");
  EXPECT_EQ(http_settings(environment).password, "from variable");
  EXPECT_TRUE(http_settings(environment).insecure_tls);
  EXPECT_EQ(http_settings(environment).timeout_s, 7);
}

TEST(Http, HidesAUserWithoutAPassword) {
  for (const char* url : {"http://ada:@host", "http://@host", "http://:@host"})
    EXPECT_EQ(HttpClient(url, {}).hidden("no secret"), "no secret") << url;
  EXPECT_EQ(HttpClient("http://ada:@host", {}).hidden("of ada:."), "of ***.");
}

TEST(Http, EncodesAsTheStandardsDo) {
  EXPECT_EQ(base64("any carnal pleas"), "YW55IGNhcm5hbCBwbGVhcw==");
  EXPECT_EQ(base64("any carnal pleasu"), "YW55IGNhcm5hbCBwbGVhc3U=");
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(percent_encoded("a b/\xC3\xA4"), "a%20b%2F%C3%A4");
  EXPECT_EQ(percent_encoded("a b/c", true), "a%20b/c");
}

} // namespace
} // namespace temper::track
