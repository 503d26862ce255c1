// SPDX-License-Identifier: BSD-3-Clause
#include "workbench/html.hpp"

#include <cmath>

namespace tool::html {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string paragraph(std::string_view text) { return fmt::format("<p>{}</p>\n", escaped(text)); }

std::string facts(const std::string &caption, const std::vector<std::pair<std::string, std::string>> &lines) {
  std::string out = fmt::format("<table class=\"facts\"><caption>{}</caption><tbody>\n", escaped(caption));
  for (const auto &[name, value] : lines)
    out += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n", escaped(name), escaped(value));
  return out + "</tbody></table>\n";
}

Table::Table(std::string caption, std::vector<Column> columns)
    : caption_(std::move(caption)), columns_(std::move(columns)) {}

void Table::add(const std::vector<std::string> &cells, bool marked) {
  body_ += marked ? "<tr class=\"marked\">" : "<tr>";
  for (std::size_t i = 0; i < cells.size(); ++i)
    body_ += fmt::format("<td{}>{}</td>", i < columns_.size() && columns_[i].right ? " class=\"right\"" : "",
                         escaped(cells[i]));
  body_ += "</tr>\n";
  ++rows_;
}

std::string Table::text() const {
  // Wide tables scroll by themselves, also by keys.
  std::string out = fmt::format(
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
      "aria-label=\"{0}\"><table><caption>{0}</caption><thead><tr>",
      escaped(caption_));
  for (const Column &column : columns_)
    out += fmt::format("<th scope=\"col\"{}>{}</th>", column.right ? " class=\"right\"" : "", escaped(column.title));
  return out + "</tr></thead><tbody>\n" + body_ + "</tbody></table></div>\n";
}

std::string drawing(const std::string &title, const std::string &svg) {
  return fmt::format("<figure><div class=\"svg\" role=\"img\" aria-label=\"{}\">{}</div></figure>\n", escaped(title),
                     svg);
}

Json plot_json(const sextant::Plot &plot) {
  Json json = {{"title", plot.title},
               {"x", {{"label", plot.x.label}, {"log", plot.x.logarithmic}}},
               {"y", {{"label", plot.y.label}, {"log", plot.y.logarithmic}}}};
  Json all = Json::array();
  for (const sextant::PlotSeries &series : plot.series) {
    Json points = Json::array();
    for (const auto &[x, y] : series.points)
      if (std::isfinite(x) && std::isfinite(y)) points.push_back({x, y});
    all.push_back({{"name", series.name},
                   {"points", points},
                   {"line", series.line},
                   {"marks", series.marks},
                   {"guide", series.guide},
                   {"colour", series.colour == sextant::PlotSeries::any_colour ? Json() : Json(series.colour)}});
  }
  json["series"] = all;
  return json;
}

std::string figure(const sextant::Plot &plot) {
  // Nothing in it may end the block of data or begin another.
  std::string data = plot_json(plot).dump(-1, ' ', false, Json::error_handler_t::replace);
  for (std::size_t at = 0; (at = data.find('<', at)) != std::string::npos; at += 6) data.replace(at, 1, "\\u003c");
  return fmt::format(
      "<figure class=\"chart\"><div class=\"svg\" role=\"img\" aria-label=\"{}\">{}</div>"
      "<script type=\"application/json\">{}</script></figure>\n",
      escaped(plot.title), sextant::to_svg(plot), data);
}

}  // namespace tool::html
