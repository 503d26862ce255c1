// SPDX-License-Identifier: BSD-3-Clause
// Plots as SVG: linear or logarithmic axes, series as lines or points, coloured bands above them, a legend.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace sextant {

struct PlotAxis {
  std::string label;
  bool logarithmic = false;
};

struct PlotSeries {
  std::string name;  // in the legend; "" for none
  std::vector<std::pair<double, double>> points;
  bool line = true, marks = false;
  bool guide = false;               // a thin dashed grey line to compare with
  std::size_t colour = any_colour;  // any_colour: by its place; series with equal numbers have equal colours and marks
  static constexpr std::size_t any_colour = ~std::size_t{0};
};

// A stretch of the x axis in the colour of a series.
struct PlotBand {
  double from = 0, to = 0;
  std::size_t series = 0;
};

struct Plot {
  std::string title;
  PlotAxis x, y;
  std::vector<PlotSeries> series;
  std::vector<PlotBand> bands;
  int width = 860, height = 460;
};

// A whole SVG document. Points that are not finite, or not positive on a logarithmic axis, are left out.
std::string to_svg(const Plot &plot);

}  // namespace sextant
