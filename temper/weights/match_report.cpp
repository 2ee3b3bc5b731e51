// The weights that do not fit, as a table a person reads.
#include <algorithm>

#include "temper/base/text.h"
#include "temper/weights/load_weights.h"
#include "temper/weights/safetensors_header.h"

namespace temper::weights {
namespace {

void list(
    std::string& text,
    const std::string& title,
    const std::vector<std::string>& lines) {
  constexpr std::size_t kMost = 12;
  if (lines.empty()) return;
  text += cat("\n  ", title, ":");
  for (std::size_t i = 0; i < std::min(kMost, lines.size()); ++i)
    text += cat("\n    ", lines[i]);
  if (lines.size() > kMost)
    text +=
        cat("\n    and ",
            count_text(static_cast<std::int64_t>(lines.size() - kMost)),
            " more");
}

std::vector<std::string> shown(const std::vector<std::string>& names) {
  std::vector<std::string> texts;
  for (const auto& name : names)
    texts.push_back(shown_name(name));
  return texts;
}

std::vector<std::string> misfit_rows(
    const std::vector<WeightsMisfit>& misfits) {
  std::size_t longest_name = 0;
  std::size_t longest_has = 0;
  for (const auto& misfit : misfits) {
    longest_name = std::max(longest_name, misfit.name.size());
    longest_has = std::max(longest_has, misfit.has.size());
  }
  std::vector<std::string> rows;
  for (const auto& misfit : misfits) {
    std::string row = misfit.name;
    row.append(longest_name - row.size() + 2, ' ');
    row += misfit.has;
    row.append(longest_name + 2 + longest_has - row.size() + 2, ' ');
    rows.push_back(cat(row, "the model has ", misfit.needs));
  }
  return rows;
}

} // namespace

std::string match_report(const WeightsMatch& match) {
  std::string text =
      cat(plural(static_cast<std::int64_t>(match.fits.size()), "tensor"),
          match.fits.size() == 1 ? " fits" : " fit");
  const auto also = [&](std::size_t count, const char* what) {
    if (count > 0)
      text += cat(", ", count_text(static_cast<std::int64_t>(count)), what);
  };
  also(match.misfits.size(), " of another shape or type");
  also(match.missing.size(), " missing");
  also(match.left_over.size(), " left over");
  list(text, "another shape or type", misfit_rows(match.misfits));
  list(text, "missing in the file", shown(match.missing));
  list(text, "left over in the file", shown(match.left_over));
  return text;
}

} // namespace temper::weights
