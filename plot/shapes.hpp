// SPDX-License-Identifier: BSD-3-Clause
// Two drawings that are no plots over axes, as SVG: a grid of shaded cells, and shares of a whole within each other.
#pragma once

#include <string>
#include <vector>

namespace sextant {

// Lines of digits, the top one first: '0' is an empty cell, '9' the darkest. A whole SVG document.
std::string cells_svg(const std::string &title, const std::vector<std::string> &lines);

// A part of a whole, and what it consists of; parts lie below it, as wide as their share of it.
struct Share {
  std::string name;  // with its value in words
  double value = 0;  // parts that add up to more than it are drawn to fit
  std::vector<Share> parts;
};
// A whole SVG document. Shares that are not positive are left out.
std::string shares_svg(const std::string &title, const Share &whole);

}  // namespace sextant
