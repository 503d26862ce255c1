// SPDX-License-Identifier: BSD-3-Clause
// What all drawings share: colours, and numbers and text as SVG wants them.
#pragma once

#include <string>

namespace sextant {

// Eight colours that colour-blind readers can distinguish (Okabe, Ito 2008).
inline constexpr const char *plot_colours[] = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                               "#E69F00", "#56B4E9", "#000000", "#B8A900"};

// A number with two digits after its point, in the form of the C locale, whichever locale the process has set.
std::string svg_number(double value);
// Text with the signs of markup, and without control characters.
std::string svg_escaped(const std::string &text);

}  // namespace sextant
