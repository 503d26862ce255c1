// SPDX-License-Identifier: BSD-3-Clause
#include "plot/shapes.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "plot/markup.hpp"

namespace sextant {

namespace {

constexpr double cell = 5, title_height = 30, margin = 4;
constexpr double share_width = 860, share_height = 26, letter = 6.4;

std::string opened(double width, double height, const std::string &title) {
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + svg_number(width) + " " + svg_number(height) +
         "\" font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n<text "
         "x=\"" +
         svg_number(margin) + "\" y=\"19\" font-size=\"14\">" + svg_escaped(title) + "</text>\n";
}

// One path for all cells of a darkness: stretches of them in each line.
std::string cells_path(const std::vector<std::string> &lines, char darkness) {
  std::string path;
  for (std::size_t i = 0; i < lines.size(); ++i)
    for (std::size_t j = 0; j < lines[i].size(); ++j) {
      const std::size_t begin = j;
      while (j < lines[i].size() && lines[i][j] == darkness) ++j;
      if (j == begin) continue;
      path += "M" + svg_number(margin + cell * static_cast<double>(begin)) + " " +
              svg_number(title_height + cell * static_cast<double>(i)) + "h" +
              svg_number(cell * static_cast<double>(j - begin)) + "v" + svg_number(cell) + "h" +
              svg_number(-cell * static_cast<double>(j - begin)) + "z";
    }
  return path;
}

int depth_of(const Share &share) {
  int deepest = 0;
  for (const Share &part : share.parts) deepest = std::max(deepest, depth_of(part));
  return 1 + deepest;
}

// Letters that fit into the width, counted by code points; UTF-8 is never cut inside one.
std::string fitting(const std::string &text, double width) {
  const auto most = static_cast<std::size_t>(std::max(0.0, (width - 6) / letter));
  std::size_t letters = 0, end = 0;
  while (end < text.size() && letters < most) {
    ++end;
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) ++end;
    ++letters;
  }
  return text.substr(0, end);
}

void draw(std::string &out, const Share &share, double x, double width, int level, std::size_t &colour) {
  const double y = title_height + share_height * level;
  out += "<g><title>" + svg_escaped(share.name) + "</title><rect x=\"" + svg_number(x) + "\" y=\"" + svg_number(y) +
         "\" width=\"" + svg_number(std::max(0.5, width - 1)) + "\" height=\"" + svg_number(share_height - 2) +
         "\" fill=\"" + plot_colours[colour++ % std::size(plot_colours)] + "\" fill-opacity=\"0.35\"/><text x=\"" +
         svg_number(x + 4) + "\" y=\"" + svg_number(y + 16) + "\">" + svg_escaped(fitting(share.name, width)) +
         "</text></g>\n";
  double sum = 0;
  for (const Share &part : share.parts) sum += std::max(0.0, part.value);
  const double whole = std::max(sum, share.value);
  for (const Share &part : share.parts) {
    if (!(part.value > 0)) continue;
    const double own = width * part.value / whole;
    draw(out, part, x, own, level + 1, colour);
    x += own;
  }
}

}  // namespace

std::string cells_svg(const std::string &title, const std::vector<std::string> &lines) {
  std::size_t across = 0;
  for (const std::string &line : lines) across = std::max(across, line.size());
  const double wide = cell * static_cast<double>(across), high = cell * static_cast<double>(lines.size());
  std::string out = opened(std::max(wide, 240.0) + 2 * margin, title_height + high + margin, title);
  out += "<rect x=\"" + svg_number(margin) + "\" y=\"" + svg_number(title_height) + "\" width=\"" + svg_number(wide) +
         "\" height=\"" + svg_number(high) + "\" fill=\"none\" stroke=\"#888\"/>\n";
  for (char darkness = '1'; darkness <= '9'; ++darkness) {
    const std::string path = cells_path(lines, darkness);
    if (path.empty()) continue;
    out += "<path d=\"" + path + "\" fill=\"" + plot_colours[0] + "\" fill-opacity=\"" +
           svg_number(0.2 + 0.8 * (darkness - '0') / 9.0) + "\"/>\n";
  }
  return out + "</svg>\n";
}

std::string shares_svg(const std::string &title, const Share &whole) {
  std::string out = opened(share_width, title_height + share_height * depth_of(whole) + margin, title);
  std::size_t colour = 0;
  if (whole.value > 0) draw(out, whole, margin, share_width - 2 * margin, 0, colour);
  return out + "</svg>\n";
}

}  // namespace sextant
