// SPDX-License-Identifier: BSD-3-Clause
// The plots that the library and the command draw.
#include "plot/svg.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

using namespace sextant;

namespace {

std::size_t count(const std::string &text, const std::string &part) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++found;
  return found;
}

PlotSeries dots(const std::string &name, double y) {
  PlotSeries series;
  series.name = name;
  series.points = {{1, y}};
  series.line = false;
  series.marks = true;
  return series;
}

TEST(SvgTest, PointsThatCannotBeShownAreLeftOutAndTextIsEscaped) {
  Plot plot;
  plot.title = "a < b & \"c\"";
  plot.x.logarithmic = plot.y.logarithmic = true;
  plot.series.push_back({"one", {{1, 1}, {10, NAN}, {0, 5}, {100, 10}}, true, true});
  plot.bands.push_back({1, 10, 0});
  const std::string drawn = to_svg(plot);
  EXPECT_THAT(drawn, testing::HasSubstr("a &lt; b &amp; &quot;c&quot;"));
  EXPECT_EQ(count(drawn, "<circle"), 3u);  // two points, and the legend
  EXPECT_EQ(drawn.find("nan"), std::string::npos);
  plot.series.clear();
  EXPECT_THAT(to_svg(plot), testing::EndsWith("</svg>\n"));
}

TEST(SvgTest, GuidesAreDashedAndTakeNoColour) {
  Plot plot;
  plot.series.push_back({"equal", {{1, 1}, {2, 2}}, true, false, true});
  plot.series.push_back(dots("first", 1));
  const std::string with = to_svg(plot);
  EXPECT_EQ(count(with, "stroke-dasharray"), 2u);  // the line, and its place in the legend
  plot.series.erase(plot.series.begin());
  const std::string without = to_svg(plot);
  EXPECT_EQ(count(without, "stroke-dasharray"), 0u);
  EXPECT_EQ(count(with, "#0072B2"), 2u);  // a mark and its legend: the first colour all the same
  EXPECT_EQ(count(without, "#0072B2"), 2u);
}

TEST(SvgTest, ColoursComeAgainWithOtherShapes) {
  Plot plot;
  for (int i = 0; i < 9; ++i) plot.series.push_back(dots("s" + std::to_string(i), i + 1));
  const std::string drawn = to_svg(plot);
  EXPECT_EQ(count(drawn, "<circle"), 16u);
  EXPECT_EQ(count(drawn, "h5v5h-5z"), 2u);
  plot.series[8].colour = 0;  // as the first
  EXPECT_EQ(count(to_svg(plot), "<circle"), 18u);
}

TEST(SvgTest, NumbersBelowZeroCountTowardsZero) {
  Plot plot;
  plot.width = -32;  // narrower than its margins: the axis runs from 78 down to -50
  plot.series.push_back({"one", {{0, 0}, {78.5, 1}, {128, 2}}});
  const std::string drawn = to_svg(plot);
  EXPECT_THAT(drawn, testing::HasSubstr("L-0.50 "));
  EXPECT_THAT(drawn, testing::HasSubstr("L-50.00 "));
}

TEST(SvgTest, AxesWithinTwoDecadesHaveTicksBetweenPowersOfTen) {
  Plot plot;
  plot.x.logarithmic = plot.y.logarithmic = true;
  plot.series.push_back({"one", {{2, 3}, {9, 80}}});
  const std::string drawn = to_svg(plot);
  for (const char *tick : {">2<", ">5<", ">10<", ">20<", ">50<"}) EXPECT_THAT(drawn, testing::HasSubstr(tick));
}

}  // namespace
