// SPDX-License-Identifier: BSD-3-Clause
#include "plot/svg.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <limits>

#include "plot/markup.hpp"

namespace sextant {

namespace {

constexpr const char *guide_colour = "#888";

constexpr double left = 78, right = 18, top = 40, bottom = 52, strip = 16, legend_row = 18;

// From data to pixels along one axis.
class Scale {
 public:
  Scale(bool logarithmic, double pixel_from, double pixel_to)
      : logarithmic_(logarithmic), pixel_from_(pixel_from), pixel_to_(pixel_to) {}

  bool shows(double value) const { return std::isfinite(value) && (!logarithmic_ || value > 0); }
  void cover(double value) {
    if (!shows(value)) return;
    from_ = std::min(from_, flat(value));
    to_ = std::max(to_, flat(value));
  }
  void finish() {
    if (!(from_ <= to_)) from_ = 0, to_ = 1;
    if (from_ == to_) from_ -= 0.5, to_ += 0.5;
  }
  double pixel(double value) const {
    const double share = std::clamp((flat(value) - from_) / (to_ - from_), 0.0, 1.0);
    return pixel_from_ + share * (pixel_to_ - pixel_from_);
  }
  // At most about ten ticks: powers of ten, or steps of 1, 2 or 5 times one.
  std::vector<double> ticks() const {
    std::vector<double> at;
    if (logarithmic_ && to_ - from_ < 2) return between_powers();
    if (logarithmic_) {
      const double step = std::max(1.0, std::ceil((to_ - from_) / 10));
      for (double power = std::ceil(from_); power <= to_ + 1e-9; power += step) at.push_back(std::pow(10, power));
      return at;
    }
    const double rough = (to_ - from_) / 8, ten = std::pow(10, std::floor(std::log10(rough)));
    const double step = rough <= 2 * ten ? 2 * ten : rough <= 5 * ten ? 5 * ten : 10 * ten;
    for (double value = std::ceil(from_ / step) * step; value <= to_ + step * 1e-9; value += step) at.push_back(value);
    return at;
  }

 private:
  // Within two decades powers of ten alone would be too few: 1, 2 and 5 times them.
  std::vector<double> between_powers() const {
    std::vector<double> at;
    for (double power = std::floor(from_); power <= to_; ++power)
      for (const double step : {1.0, 2.0, 5.0}) {
        const double value = step * std::pow(10, power);
        if (flat(value) >= from_ - 1e-9 && flat(value) <= to_ + 1e-9) at.push_back(value);
      }
    return at;
  }
  double flat(double value) const { return logarithmic_ ? std::log10(std::max(value, 1e-300)) : value; }
  bool logarithmic_;
  double pixel_from_, pixel_to_;
  double from_ = std::numeric_limits<double>::infinity(), to_ = -std::numeric_limits<double>::infinity();
};

std::string tick_text(double value) {
  char digits[32];
  const int length = std::snprintf(digits, sizeof digits, "%.4g", value);
  std::replace(digits, digits + length, ',', '.');
  return digits;
}

std::string label(double x, double y, const char *anchor, const std::string &text, const char *more = "") {
  return "<text x=\"" + svg_number(x) + "\" y=\"" + svg_number(y) + "\" text-anchor=\"" + anchor + "\"" + more + ">" +
         svg_escaped(text) + "</text>\n";
}

class Drawing {
 public:
  explicit Drawing(const Plot &plot)
      : plot_(plot),
        frame_bottom_(plot.height - bottom),
        frame_top_(top + (plot.bands.empty() ? 0 : strip + 6)),
        x_(plot.x.logarithmic, left, plot.width - right),
        y_(plot.y.logarithmic, frame_bottom_, frame_top_) {
    for (const PlotSeries &series : plot.series)
      for (const auto &[x, y] : series.points)
        if (x_.shows(x) && y_.shows(y)) x_.cover(x), y_.cover(y);
    x_.finish();
    y_.finish();
    std::size_t own = 0;
    for (const PlotSeries &series : plot.series) {
      named_ += !series.name.empty();
      styles_.push_back(series.guide ? 0 : series.colour == PlotSeries::any_colour ? own++ : series.colour);
    }
    columns_ = named_ > 6 ? 2 : 1;
  }

  std::string text() {
    const double height = plot_.height + legend_row * static_cast<double>((named_ + columns_ - 1) / columns_);
    out_ = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + svg_number(plot_.width) + " " +
           svg_number(height) +
           "\" font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n";
    out_ += label(plot_.width / 2.0, 22, "middle", plot_.title, " font-size=\"15\"");
    axes();
    bands();
    for (std::size_t i = 0; i < plot_.series.size(); ++i) series(i);
    legend();
    return out_ + "</svg>\n";
  }

 private:
  void line(double x1, double y1, double x2, double y2, const char *stroke, const char *more = "") {
    out_ += "<path d=\"M" + svg_number(x1) + " " + svg_number(y1) + "L" + svg_number(x2) + " " + svg_number(y2) +
            "\" stroke=\"" + stroke + "\"" + more + "/>\n";
  }

  void axes() {
    const double end = plot_.width - right;
    for (const double value : x_.ticks()) {
      line(x_.pixel(value), frame_top_, x_.pixel(value), frame_bottom_, "#ddd");
      out_ += label(x_.pixel(value), frame_bottom_ + 17, "middle", tick_text(value));
    }
    for (const double value : y_.ticks()) {
      line(left, y_.pixel(value), end, y_.pixel(value), "#ddd");
      out_ += label(left - 7, y_.pixel(value) + 4, "end", tick_text(value));
    }
    line(left, frame_bottom_, end, frame_bottom_, "#333");
    line(left, frame_top_, left, frame_bottom_, "#333");
    out_ += label((left + end) / 2, frame_bottom_ + 38, "middle", plot_.x.label);
    const double middle = (frame_top_ + frame_bottom_) / 2;
    const std::string turn = " transform=\"rotate(-90 16 " + svg_number(middle) + ")\"";
    out_ += label(16, middle, "middle", plot_.y.label, turn.c_str());
  }

  void bands() {
    for (const PlotBand &band : plot_.bands) {
      const double from = x_.pixel(band.from), to = x_.pixel(band.to);
      out_ += "<rect x=\"" + svg_number(from) + "\" y=\"" + svg_number(top) + "\" width=\"" +
              svg_number(std::max(to - from, 0.5)) + "\" height=\"" + svg_number(strip) + "\" fill=\"" +
              colour(band.series) + "\"/>\n";
    }
  }

  // A band may name a series that does not exist.
  const char *colour(std::size_t series) const {
    if (series >= styles_.size()) return plot_colours[series % std::size(plot_colours)];
    return plot_.series[series].guide ? guide_colour : plot_colours[styles_[series] % std::size(plot_colours)];
  }

  // When the colours are used up they repeat with another shape.
  void mark(std::size_t series, double x, double y) {
    const std::string fill = std::string("\" fill=\"") + colour(series) + "\"/>\n";
    const auto at = [&](double dx, double dy) { return svg_number(x + dx) + " " + svg_number(y + dy); };
    switch (styles_[series] / std::size(plot_colours) % 4) {
      case 0: out_ += "<circle cx=\"" + svg_number(x) + "\" cy=\"" + svg_number(y) + "\" r=\"2.5" + fill; return;
      case 1: out_ += "<path d=\"M" + at(-2.5, -2.5) + "h5v5h-5z" + fill; return;
      case 2: out_ += "<path d=\"M" + at(0, -3.5) + "L" + at(3.2, 2.5) + "L" + at(-3.2, 2.5) + "z" + fill; return;
      default:
        out_ += "<path d=\"M" + at(0, -3.6) + "L" + at(3.6, 0) + "L" + at(0, 3.6) + "L" + at(-3.6, 0) + "z" + fill;
    }
  }

  void series(std::size_t index) {
    const PlotSeries &each = plot_.series[index];
    std::string path;
    for (const auto &[x, y] : each.points) {
      if (!x_.shows(x) || !y_.shows(y)) continue;
      path += (path.empty() ? "M" : "L") + svg_number(x_.pixel(x)) + " " + svg_number(y_.pixel(y));
      if (each.marks) mark(index, x_.pixel(x), y_.pixel(y));
    }
    if (each.line && !path.empty())
      out_ += "<path d=\"" + path + "\" fill=\"none\" stroke=\"" + colour(index) +
              (each.guide ? "\" stroke-width=\"1\" stroke-dasharray=\"5 4\"/>\n" : "\" stroke-width=\"1.6\"/>\n");
  }

  void legend() {
    const double width = (plot_.width - left - right) / static_cast<double>(columns_);
    std::size_t place = 0;
    for (std::size_t i = 0; i < plot_.series.size(); ++i) {
      if (plot_.series[i].name.empty()) continue;
      const double x = left + width * static_cast<double>(place % columns_);
      const double y = plot_.height + legend_row * static_cast<double>(place / columns_);
      if (plot_.series[i].line || !plot_.series[i].marks)
        line(x, y - 2, x + 22, y - 2, colour(i),
             plot_.series[i].guide ? " stroke-dasharray=\"5 4\"" : " stroke-width=\"4\"");
      if (plot_.series[i].marks) mark(i, x + 11, y - 2);
      out_ += label(x + 30, y + 2, "start", plot_.series[i].name);
      ++place;
    }
  }

  const Plot &plot_;
  double frame_bottom_, frame_top_;
  Scale x_, y_;
  std::size_t named_ = 0, columns_ = 1;
  std::vector<std::size_t> styles_;  // of each series: the number of its colour and mark
  std::string out_;
};

}  // namespace

std::string to_svg(const Plot &plot) { return Drawing(plot).text(); }

}  // namespace sextant
