#include <CLI/CLI.hpp>
#include <algorithm>
#include <thread>

#include "temper/base/file/atomic_file.h"
#include "temper/base/log.h"
#include "temper/base/nearest.h"
#include "temper/base/text.h"
#include "temper/cli/commands/kept_features.h"
#include "temper/cli/terminal/command.h"
#include "temper/cli/terminal/interrupt.h"
#include "temper/cli/terminal/progress_line.h"
#include "temper/config/load.h"
#include "temper/data/feature/feature_store.h"
#include "temper/data/fetch/catalogue.h"
#include "temper/data/inspect/check.h"
#include "temper/data/inspect/check_report.h"
#include "temper/data/open/open.h"
#include "temper/data/open/source_name.h"
#include "temper/data/pack/pack.h"
#include "temper/data/sample/first_samples.h"
#include "temper/data/transform/presets.h"
#include "temper/session/sheet_picture.h"
#include "temper/train/setup/run_data.h"

namespace temper::cli {
namespace {

namespace fs = std::filesystem;

constexpr int kSheetColumns = 8;

// A flag that is a key of the config.
struct Flag {
  const char* flag;
  const char* key;
  const char* type;
  const char* help;
};
constexpr Flag kFlags[]{
    {"--path",
     "data.path",
     "DIR",
     "where a named dataset's files are, or get puts them"},
    {"--val-fraction",
     "data.val_fraction",
     "X",
     "of the samples, for validation where the source has no such part"},
    {"--target", "data.target", "NAME", "csv: the column to predict"},
    {"--bad",
     "data.bad",
     "WHAT",
     "error, skip or replace: what pack does with bad samples"},
    {"--augment",
     "data.augment",
     "PRESET",
     "show: none, cifar, imagenet or strong, and jitter: cifar,jitter"},
    {"--seed", "seed", "N", "of the order, the split and show"},
};

int usable_workers() {
  return std::clamp(
      static_cast<int>(std::thread::hardware_concurrency()), 1, 16);
}

class DataCommand : public Command {
 public:
  Manual manual() const override {
    return {
        "get downloads a named dataset to TEMPER_DATA or the user's cache: a "
        "broken transfer is continued, the sum is checked, and a file is there "
        "only when it is whole. Without a name it lists what there is to "
        "get.\n\n"
        "check reads every sample once: which cannot be decoded or hold NaN, "
        "what sizes there are, which are duplicates or in both train and val, "
        "how the classes are filled. Of a cmd: source it reads the first 1,000 "
        "samples, or as many as --set limit=N says.\n\n"
        "show writes a contact sheet, a PNG of the first samples of an epoch "
        "as the augmentation leaves them, and prints how the classes are "
        "filled.\n\n"
        "pack writes both parts to one checksummed file that is mapped rather "
        "than read, to be used as pack:FILE. With --bad skip samples that "
        "cannot be read are left out.\n\n"
        "cache lists what frozen parts of models have computed and temper has "
        "kept (model.freeze); with --clear it is removed.\n\n" +
            sources_text() +
            "\n\nA path alone is enough where its kind is evident: photos, "
            "house.csv.\n\n" +
            augmentations_text(),
        {{"temper data get cifar10", "download CIFAR-10"},
         {"temper data check photos", "is everything in it usable?"},
         {"temper data check house.csv --set target=price",
          "any key of [data], as in a config"},
         {"temper data show cifar10 --augment cifar", "see what a model sees"},
         {"temper data pack photos --out photos.tpk",
          "one file instead of thousands"},
         {"temper data cache --clear", "free the disk of kept features"}},
        {{0, "done, nothing wrong"},
         {1, "failed"},
         {2, "wrong flags"},
         {3,
          "check found samples that cannot be used, duplicates in both train "
          "and val, or duplicates with different labels"},
         {130, "interrupted; a download goes on where it was"}}};
  }

  void declare(CLI::App& app) override {
    app.add_option("ACTION", action_, "get, check, show, pack or cache");
    app.add_option("SOURCE", source_, "the dataset: cifar10, folder:PATH, ...");
    for (const Flag& flag : kFlags)
      app.add_option_function<std::string>(
             flag.flag,
             [this, flag](const std::string& value) {
               assignments_.push_back({flag.key, value, flag.flag});
             },
             flag.help)
          ->type_name(flag.type);
    app.add_option("--set", set_, "any key of [data]: target=price")
        ->type_name("KEY=VALUE")
        ->allow_extra_args(false);
    app.add_option("--part", part_, "show: train or val")
        ->type_name("P")
        ->default_str("train");
    app.add_option("--epoch", epoch_, "show: this epoch's samples")
        ->type_name("N")
        ->default_str("0");
    app.add_option("--out", out_, "the file that show or pack writes")
        ->type_name("FILE");
    app.add_flag("--json", json_, "check: print JSON");
    app.add_flag("--clear", clear_, "cache: remove what is kept");
  }

  int run(const Invocation&, Console& console) override {
    const std::vector<std::string> actions{
        "get", "check", "show", "pack", "cache"};
    if (std::find(actions.begin(), actions.end(), action_) == actions.end()) {
      const auto meant = nearest(action_, actions);
      throw UsageError(
          action_.empty() ? "what to do with data is missing."
                          : cat("unknown action \"", action_, "\"."),
          meant ? cat("Did you mean: temper data ", *meant, "?")
                : cat("Actions: ",
                      join(actions, ", "),
                      ". See temper help data."));
    }
    if (part_ != "train" && part_ != "val")
      throw UsageError(
          cat("there is no part \"", part_, "\"."), "Parts: train, val.");
    const InterruptWatch interrupt;
    if (action_ == "get") return get(console, interrupt);
    if (action_ == "cache") return cache(console);
    if (source_.empty())
      throw UsageError(
          cat("temper data ", action_, " needs a source."),
          cat("For example: temper data ", action_, " cifar10"));
    const std::string source = data::with_kind(source_);
    console.progress(cat("opening ", source, " ..."));
    const config::Config config = read_config();
    const auto splits = open(source, config, console, interrupt);
    for (const std::string& note : splits.notes)
      log::note(cat("[data] ", note, "."));
    if (action_ == "check") return check(splits, config, console, interrupt);
    if (action_ == "pack") return pack(splits, config, console, interrupt);
    const auto& part = part_ == "val" ? splits.val : splits.train;
    if (!part) throw Error(cat("[data] ", source, " has no ", part_, " part."));
    return show(*part, config, console);
  }

 private:
  static std::string sources_text() {
    std::string text = "Sources:";
    for (const auto& kind : data::source_kinds())
      text +=
          cat(text.back() == ':' ? " " : "; ", kind.name, " (", kind.help, ")");
    return text + ".";
  }

  static std::string augmentations_text() {
    std::string text = "Augmentations:";
    for (const auto& preset : data::presets())
      text += cat(
          text.back() == ':' ? " " : "; ", preset.name, " (", preset.help, ")");
    return text + ". Several go together: cifar,jitter.";
  }

  // [data] as the flags and --set have it.
  config::Config read_config() const {
    auto assignments = assignments_;
    for (const std::string& text : set_) {
      config::Assignment given = config::parse_assignment(text);
      if (given.key.find('.') == std::string::npos && given.key != "seed")
        given.key = "data." + given.key;
      if (!given.key.starts_with("data.") && given.key != "seed")
        throw UsageError(
            cat("temper data has no use for ", given.key, "."),
            "--set takes the keys of [data], and seed.");
      assignments.push_back(std::move(given));
    }
    return config::load(std::nullopt, assignments).config;
  }

  data::Splits open(
      const std::string& source,
      const config::Config& config,
      Console& console,
      const InterruptWatch& interrupt) const {
    const auto stream = data::open_stream(source);
    if (!stream) return train::open_splits(source, config);
    if (action_ == "pack")
      throw Error(
          cat("[data] ", source, " cannot be packed: a program has no end."),
          "Write its archive to a file, and pack that: tar:FILE.");
    data::FirstSamplesOptions options;
    if (config.data.limit > 0) options.most = config.data.limit;
    options.seed = static_cast<std::uint64_t>(config.seed);
    ProgressLine line(console);
    options.progress = [&](std::int64_t done) {
      interrupt.check();
      line.show("reading", static_cast<std::uint64_t>(done), 0, false);
    };
    return {data::first_samples(*stream, options), nullptr};
  }

  int get(Console& console, const InterruptWatch& interrupt) {
    fs::path folder = read_config().data.path;
    if (folder.empty()) folder = data::download_folder(current_environment());
    if (source_.empty()) {
      std::string text;
      for (const auto& entry : data::catalogue())
        text += cat(entry.name, ": ", entry.help, "\n  ", entry.homepage, "\n");
      console.print(cat(text, "They go to ", folder.string(), ".\n"));
      return kDone;
    }
    ProgressLine line(console);
    const auto place = data::get_dataset(
        data::catalogue_entry(source_),
        folder,
        {},
        [&](const data::GetProgress& at) {
          interrupt.check();
          line.show(at.what, at.done_bytes, at.total_bytes, true);
        });
    console.print(cat(source_, " is in ", place.string(), "\n"));
    return kDone;
  }

  int cache(Console& console) const {
    const auto folder = data::feature_folder(current_environment());
    if (folder.empty())
      throw Error(
          "[data] there is no cache directory.",
          "Set TEMPER_CACHE_DIR or HOME.");
    if (clear_) {
      const auto cleared = data::clear_features(folder);
      console.print(
          cat("removed ",
              plural(cleared.files, "file"),
              " of features, ",
              bytes_text(cleared.bytes),
              "\n"));
      return kDone;
    }
    console.print(features_text(folder));
    return kDone;
  }

  int check(
      const data::Splits& splits,
      const config::Config& config,
      Console& console,
      const InterruptWatch& interrupt) {
    ProgressLine line(console);
    data::CheckOptions options;
    options.skips_bad =
        train::bad_policy_of(config.data) != data::BadPolicy::error;
    options.workers = usable_workers();
    options.progress = [&](std::int64_t done, std::int64_t total) {
      interrupt.check();
      line.show(
          "checking",
          static_cast<std::uint64_t>(done),
          static_cast<std::uint64_t>(total),
          false);
    };
    const auto report = data::check_data(splits, options);
    console.print(
        json_ ? data::to_json(report) : data::to_text(report, console.width()));
    return report.has_problems() ? kProblemsFound : kDone;
  }

  int show(
      const data::IndexedSource& source,
      const config::Config& config,
      Console& console) {
    if (source.info().input != data::Input::image)
      throw Error(
          cat("[data] ",
              source.info().name,
              " has ",
              data::to_string(source.info().input),
              ", and show makes a picture of images."),
          cat("temper data check ", source_, " says what is in it."));
    data::SheetOptions options;
    options.seed = static_cast<std::uint64_t>(config.seed);
    options.epoch = epoch_;
    const auto augment = data::make_augment(
        config.data.augment.list,
        part_ == "train",
        static_cast<int>(config.data.image_size),
        source.info());
    const auto sheet = session::sheet_picture(
        data::sheet_samples(source, &augment, options),
        kSheetColumns,
        session::label_caption);
    const fs::path out = out_.empty() ? "samples.png" : out_;
    write_file_atomically(out, plot::as_png(sheet));
    console.print(
        cat(data::classes_text(source, console.width()),
            "The first samples of epoch ",
            epoch_,
            " are in ",
            out.string(),
            "\n"));
    return kDone;
  }

  int pack(
      const data::Splits& splits,
      const config::Config& config,
      Console& console,
      const InterruptWatch& interrupt) {
    if (out_.empty())
      throw UsageError(
          "temper data pack needs --out FILE.",
          "For example: temper data pack photos --out photos.tpk");
    ProgressLine line(console);
    data::PackOptions options;
    options.bad = train::bad_policy_of(config.data);
    options.seed = static_cast<std::uint64_t>(config.seed);
    options.progress = [&](std::int64_t done, std::int64_t total) {
      interrupt.check();
      line.show(
          "packing",
          static_cast<std::uint64_t>(done),
          static_cast<std::uint64_t>(total),
          false);
    };
    const std::int64_t bad = data::write_pack(splits, out_, options);
    console.print(
        cat(out_,
            ": ",
            bytes_text(fs::file_size(out_)),
            bad == 0 ? ""
                     : cat(", ",
                           plural(bad, "bad sample"),
                           options.bad == data::BadPolicy::skip ? " left out"
                                                                : " replaced"),
            ". Use it as pack:",
            out_,
            "\n"));
    return kDone;
  }

  std::string action_;
  std::string source_;
  std::vector<config::Assignment> assignments_; // by flags
  std::vector<std::string> set_;
  std::string part_ = "train";
  std::uint32_t epoch_ = 0;
  std::string out_;
  bool json_ = false;
  bool clear_ = false;
};

} // namespace

std::unique_ptr<Command> make_data() {
  return std::make_unique<DataCommand>();
}

} // namespace temper::cli
