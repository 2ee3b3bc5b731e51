#include <CLI/CLI.hpp>
#include <algorithm>
#include <thread>

#include "temper/base/nearest.h"
#include "temper/base/text.h"
#include "temper/cli/command.h"
#include "temper/cli/interrupt.h"
#include "temper/cli/progress_line.h"
#include "temper/data/catalogue.h"
#include "temper/data/check.h"
#include "temper/data/check_report.h"
#include "temper/data/contact_sheet.h"
#include "temper/data/feature_store.h"
#include "temper/data/open.h"
#include "temper/data/pack.h"
#include "temper/data/png_file.h"
#include "temper/data/presets.h"

namespace temper::cli {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> preset_names() {
  std::vector<std::string> names;
  for (const auto& preset : data::presets())
    names.push_back(preset.name);
  return names;
}

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
        "check reads every sample once: which cannot be decoded, what sizes "
        "there are, which are there twice or in train and val, how the classes "
        "are filled.\n\n"
        "show writes a contact sheet, a PNG of the first samples of an epoch "
        "as "
        "the augmentation leaves them, and prints how the classes are "
        "filled.\n\n"
        "pack writes both parts to one checksummed file that is mapped rather "
        "than read, to be used as pack:FILE.\n\n"
        "cache lists what frozen parts of models have computed and temper has "
        "kept (model.freeze); with --clear it is removed.\n\n" +
            sources_text(),
        {{"temper data get cifar10", "download CIFAR-10"},
         {"temper data check folder:photos", "is everything in it usable?"},
         {"temper data show cifar10 --augment cifar", "see what a model sees"},
         {"temper data pack folder:photos --out photos.tpk",
          "one file instead of thousands"},
         {"temper data cache --clear", "free the disk of kept features"}},
        {{0, "done, nothing wrong"},
         {1, "failed"},
         {2, "wrong flags"},
         {3,
          "check found samples that cannot be used, or too many of val in "
          "train"},
         {130, "interrupted; a download goes on where it was"}}};
  }

  void declare(CLI::App& app) override {
    app.add_option("ACTION", action_, "get, check, show, pack or cache");
    app.add_option("SOURCE", source_, "the dataset: cifar10, folder:PATH, ...");
    app.add_option(
           "--path",
           open_.path,
           "where a named dataset's files are, or get puts them")
        ->type_name("DIR");
    app.add_option(
           "--val-fraction",
           open_.val_fraction,
           "of the samples, for validation where the source has no such part")
        ->type_name("X")
        ->default_str("0.1");
    app.add_option("--target", open_.target, "csv: the column to predict")
        ->type_name("NAME");
    app.add_option("--part", part_, "show: train or val")
        ->type_name("P")
        ->default_str("train");
    app.add_option(
           "--augment",
           augment_,
           cat("show: a preset, ", join(preset_names(), ", ")))
        ->type_name("PRESET")
        ->default_str("none");
    app.add_option("--seed", open_.seed, "of the order, the split and show")
        ->type_name("N")
        ->default_str("0");
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
    console.progress(cat("opening ", source_, " ..."));
    const auto splits = data::open_source(source_, open_);
    if (action_ == "check") return check(splits, console, interrupt);
    if (action_ == "pack") return pack(splits, console, interrupt);
    const auto& part = part_ == "val" ? splits.val : splits.train;
    if (!part)
      throw Error(cat("[data] ", source_, " has no ", part_, " part."));
    return show(*part, console);
  }

 private:
  static std::string sources_text() {
    std::string text = "Sources:";
    for (const auto& kind : data::source_kinds())
      text +=
          cat(text.back() == ':' ? " " : "; ", kind.name, " (", kind.help, ")");
    return text + ".";
  }

  int get(Console& console, const InterruptWatch& interrupt) {
    const auto folder = open_.path.empty()
        ? data::download_folder(current_environment())
        : open_.path;
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
    console.print(cache_text(folder));
    return kDone;
  }

  static std::string cache_text(const fs::path& folder) {
    const auto kept = data::list_features(folder);
    std::string text;
    std::uint64_t bytes = 0;
    for (const auto& each : kept) {
      bytes += each.bytes;
      text +=
          cat("  ",
              bytes_text(each.bytes),
              ", ",
              each.about ? cat(each.about->what,
                               ", ",
                               plural(each.about->layout.samples, "sample"),
                               " computed in ",
                               seconds_text(each.about->seconds))
                         : each.path.filename().string(),
              ", last used ",
              seconds_text(each.unused_s),
              " ago\n");
    }
    return cat(
        plural(static_cast<std::int64_t>(kept.size()), "file"),
        " of features in ",
        folder.string(),
        ", ",
        bytes_text(bytes),
        "\n",
        text,
        kept.empty() ? "" : "temper data cache --clear removes them.\n");
  }

  int check(
      const data::Splits& splits,
      Console& console,
      const InterruptWatch& interrupt) {
    ProgressLine line(console);
    data::CheckOptions options;
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

  int show(const data::IndexedSource& source, Console& console) {
    data::SheetOptions options;
    options.seed = open_.seed;
    options.epoch = epoch_;
    const auto augment =
        data::make_augment(augment_, part_ == "train", 0, source.info());
    const auto sheet = data::contact_sheet(source, &augment, options);
    const fs::path out = out_.empty() ? "samples.png" : out_;
    data::write_png(out, sheet);
    console.print(
        cat(classes_text(source, console.width()),
            "The first samples of epoch ",
            epoch_,
            " are in ",
            out.string(),
            "\n"));
    return kDone;
  }

  static std::string classes_text(
      const data::IndexedSource& source,
      int width) {
    const auto& classes = source.info().classes;
    std::vector<data::HistogramRow> rows;
    for (const auto& name : classes)
      rows.push_back({name, 0});
    for (std::int64_t i = 0; i < source.size(); ++i) {
      const auto label = source.label(i);
      if (!label) return "";
      if (*label >= 0 && static_cast<std::size_t>(*label) < rows.size())
        ++rows[static_cast<std::size_t>(*label)].count;
    }
    if (rows.empty()) return "";
    return cat(
        source.info().name,
        ", ",
        plural(source.size(), "sample"),
        ":\n",
        data::histogram(rows, width),
        "\n");
  }

  int pack(
      const data::Splits& splits,
      Console& console,
      const InterruptWatch& interrupt) {
    if (out_.empty())
      throw UsageError(
          "temper data pack needs --out FILE.",
          "For example: temper data pack folder:photos --out photos.tpk");
    ProgressLine line(console);
    data::write_pack(splits, out_, [&](std::int64_t done, std::int64_t total) {
      interrupt.check();
      line.show(
          "packing",
          static_cast<std::uint64_t>(done),
          static_cast<std::uint64_t>(total),
          false);
    });
    console.print(
        cat(out_,
            ": ",
            bytes_text(fs::file_size(out_)),
            ". Use it as pack:",
            out_,
            "\n"));
    return kDone;
  }

  std::string action_;
  std::string source_;
  data::OpenOptions open_;
  std::string part_ = "train";
  std::string augment_ = "none";
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
