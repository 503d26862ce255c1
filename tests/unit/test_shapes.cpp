// SPDX-License-Identifier: BSD-3-Clause
// The drawings that have no axes: cells of a grid, and shares of a whole.
#include "plot/shapes.hpp"

#include <gmock/gmock.h>

#include <string>

namespace {

using sextant::cells_svg;
using sextant::Share;
using sextant::shares_svg;
using testing::HasSubstr;
using testing::Not;

std::size_t count(const std::string &text, const std::string &part) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++found;
  return found;
}

TEST(ShapesTest, CellsOfOneDarknessAreOnePathOfStretches) {
  const std::string drawn = cells_svg("a < b", {"1101", "0009"});
  EXPECT_THAT(drawn, HasSubstr("a &lt; b"));
  EXPECT_EQ(count(drawn, "<path"), 2u);                  // darkness 1 and 9
  EXPECT_THAT(drawn, HasSubstr("h10.00v5.00h-10.00z"));  // two cells side by side
  EXPECT_EQ(count(drawn, "z\""), 2u);
  EXPECT_EQ(count(drawn, "v5.00"), 3u);  // stretches: 11, 1, 9
}

TEST(ShapesTest, NoCellsAreAFrame) {
  EXPECT_EQ(count(cells_svg("none", {}), "<path"), 0u);
  EXPECT_EQ(count(cells_svg("none", {"000"}), "<path"), 0u);
}

TEST(ShapesTest, PartsLieBelowTheirWholeAndWithinIt) {
  const std::string drawn = shares_svg("t", {"whole", 4, {{"half", 2, {}}, {"nothing", 0, {}}, {"quarter", 1, {}}}});
  EXPECT_EQ(count(drawn, "<rect"), 4u);  // the paper, the whole, two parts
  EXPECT_THAT(drawn, HasSubstr("width=\"851.00\""));
  EXPECT_THAT(drawn, HasSubstr("width=\"425.00\""));
  EXPECT_THAT(drawn, HasSubstr("width=\"212.00\""));
  EXPECT_THAT(drawn, Not(HasSubstr("nothing")));
}

TEST(ShapesTest, PartsThatAddUpToMoreAreDrawnToFit) {
  const std::string drawn = shares_svg("t", {"whole", 1, {{"a", 2, {}}, {"b", 2, {}}}});
  EXPECT_EQ(count(drawn, "width=\"425.00\""), 2u);
}

TEST(ShapesTest, NamesAreCutBetweenLetters) {
  const std::string drawn = shares_svg("t", {"w", 100, {{"äöüäöüäöüäöü", 3, {}}, {"rest", 97, {}}}});
  EXPECT_THAT(drawn, HasSubstr(">ä"));
  EXPECT_THAT(drawn, Not(HasSubstr("\xc3<")));  // half a letter
}

}  // namespace
