#include "temper/session/run_curves.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "temper/base/text.h"
#include "temper/journal/event_fields.h"
#include "temper/journal/event_kinds.h"
#include "temper/journal/journal.h"
#include "temper/journal/thinned.h"

namespace temper::session {
namespace {

using journal::Event;
namespace kinds = journal::kinds;
namespace fields = journal::fields;

constexpr std::size_t kMostPoints = 2000;
constexpr int kTraining = 0; // colours of the palette
constexpr int kValidation = 1;
constexpr int kBatches = 4;

// The metrics that a run is judged by, in the order in which they are looked
// for.
struct Judged {
  const char* field;
  const char* title;
  const char* unit;
  bool percent;
};
constexpr Judged kJudged[] = {
    {"accuracy", "Accuracy", "%", true},
    {"r2", "R²", "", false},
    {"perplexity", "Perplexity", "", false}};

struct Curve {
  journal::Thinned<std::pair<double, double>> points{kMostPoints};

  plot::Series
  series(const std::string& name, int colour, bool dashed = false) {
    plot::Series made{name, {}, {}, colour, dashed};
    for (const auto& [x, y] : points.take()) {
      made.x.push_back(x);
      made.y.push_back(y);
    }
    return made;
  }
};

class Curves {
 public:
  void see(const Event& event) {
    if (event.kind == kinds::kRun) see_plan(event);
    if (event.kind == kinds::kStep) see_step(event);
    if (event.kind == kinds::kEpoch) see_epoch(event);
  }

  std::vector<plot::Chart> charts() {
    if (rate_.points.seen() == 0) return {};
    std::vector<plot::Chart> all;
    all.push_back(pair("Loss", "", train_loss_, val_loss_, true));
    if (judged_ != nullptr) {
      auto chart =
          pair(judged_->title, judged_->unit, train_score_, val_score_, false);
      if (judged_->percent) chart.highest_y = 100;
      all.push_back(std::move(chart));
    }
    plot::Chart rate{"Learning rate", across(), ""};
    rate.series.push_back(rate_.series("learning rate", kTraining));
    all.push_back(std::move(rate));
    return all;
  }

 private:
  std::string across() const {
    return an_epoch_ > 0 ? "epoch" : "update";
  }

  void see_plan(const Event& event) {
    const auto plan = nlohmann::json::parse(
        event.json(fields::kPlan).value_or("{}"), nullptr, false);
    if (plan.is_object() && plan.contains("updates_per_epoch") &&
        plan["updates_per_epoch"].is_number())
      an_epoch_ = plan["updates_per_epoch"].get<double>();
  }

  double place(double update) const {
    return an_epoch_ > 0 ? update / an_epoch_ : update;
  }

  void see_step(const Event& event) {
    const auto step = event.number(fields::kStep);
    if (!step) return;
    const double x = place(*step);
    if (const auto loss = event.number(fields::kLoss))
      batch_loss_.points.add({x, *loss});
    if (const auto rate = event.number(fields::kLr))
      rate_.points.add({x, *rate});
  }

  void see_epoch(const Event& event) {
    const auto update = event.number(fields::kUpdate);
    if (!update) return;
    const double x = place(*update);
    const auto add = [&](const std::string& field, Curve& curve, double times) {
      if (const auto value = event.number(field))
        curve.points.add({x, times * *value});
    };
    add(cat(fields::kTrainPrefix, fields::kLoss), train_loss_, 1);
    add(cat(fields::kValPrefix, fields::kLoss), val_loss_, 1);
    for (const Judged& each : kJudged)
      if (judged_ == nullptr &&
          event.number(cat(fields::kTrainPrefix, each.field)))
        judged_ = &each;
    if (judged_ == nullptr) return;
    const double times = judged_->percent ? 100 : 1;
    add(cat(fields::kTrainPrefix, judged_->field), train_score_, times);
    add(cat(fields::kValPrefix, judged_->field), val_score_, times);
  }

  plot::Chart pair(
      const std::string& title,
      const std::string& unit,
      Curve& train,
      Curve& val,
      bool batches) {
    plot::Chart chart{title, across(), unit};
    if (batches && batch_loss_.points.seen() > 0)
      chart.series.push_back(batch_loss_.series("batches", kBatches));
    if (train.points.seen() > 0)
      chart.series.push_back(train.series("training", kTraining));
    if (val.points.seen() > 0)
      chart.series.push_back(val.series("validation", kValidation));
    return chart;
  }

  double an_epoch_ = 0; // updates
  const Judged* judged_ = nullptr;
  Curve batch_loss_;
  Curve train_loss_;
  Curve val_loss_;
  Curve train_score_;
  Curve val_score_;
  Curve rate_;
};

} // namespace

std::vector<plot::Chart> run_curves(const journal::RunDirectory& run) {
  Curves curves;
  journal::Follower follower(run.journal());
  for (;;) {
    const std::uint64_t before = follower.offset();
    for (const Event& event : follower.read())
      curves.see(event);
    if (follower.offset() == before) break;
  }
  return curves.charts();
}

} // namespace temper::session
