// SPDX-License-Identifier: BSD-3-Clause
#include "plot/markup.hpp"

#include <cmath>
#include <cstdio>

namespace sextant {

std::string svg_number(double value) {
  char digits[32];
  const double size = std::abs(value), whole = std::floor(size);
  std::snprintf(digits, sizeof digits, "%s%lld.%02d", value < 0 ? "-" : "", static_cast<long long>(whole),
                static_cast<int>(std::floor((size - whole) * 100)));
  return digits;
}

std::string svg_escaped(const std::string &text) {
  std::string out;
  for (const char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else if (c == '"')
      out += "&quot;";
    else if (static_cast<unsigned char>(c) >= ' ')
      out += c;
  }
  return out;
}

}  // namespace sextant
