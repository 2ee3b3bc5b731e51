// The charts of `make bench-scaling` from its JSON, as SVG and PNG.
//
//   temper_bench_plot scaling.json scaling.svg scaling.png
#include <cstdio>
#include <exception>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "temper/plot/chart.h"

namespace {

using nlohmann::json;
using namespace temper;

plot::Chart chart_from(const json& told) {
  plot::Chart chart;
  chart.title = told.at("title");
  chart.x_label = told.at("x_label");
  chart.y_label = told.at("y_label");
  chart.log_x = true;
  chart.log_y = true;
  for (const json& each : told.at("series")) {
    plot::Series series;
    series.name = each.at("name");
    series.x = each.at("x").get<std::vector<double>>();
    series.y = each.at("y").get<std::vector<double>>();
    series.dashed = each.value("dashed", false);
    series.colour = each.value("colour", 0);
    chart.series.push_back(series);
  }
  return chart;
}

void write(const char* path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  file << bytes;
  if (!file.flush())
    throw std::runtime_error(std::string("cannot write ") + path);
}

} // namespace

int main(int count, char** words) {
  if (count != 4) {
    std::fprintf(stderr, "temper_bench_plot CHARTS.json OUT.svg OUT.png\n");
    return 2;
  }
  try {
    std::ifstream file(words[1]);
    std::vector<plot::Chart> all;
    for (const json& each : json::parse(file))
      all.push_back(chart_from(each));
    const plot::Drawing drawing = plot::charts(all);
    write(words[2], plot::as_svg(drawing));
    write(words[3], plot::as_png(drawing));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "temper_bench_plot: %s\n", error.what());
    return 1;
  }
}
