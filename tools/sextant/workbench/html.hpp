// SPDX-License-Identifier: BSD-3-Clause
// Pieces of HTML: everything that comes from data is escaped here.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plot/svg.hpp"
#include "report/output.hpp"

namespace tool::html {

std::string escaped(std::string_view text);
std::string paragraph(std::string_view text);
// A table of two columns: what, and its value.
std::string facts(const std::string &caption, const std::vector<std::pair<std::string, std::string>> &lines);

class Table {
 public:
  struct Column {
    std::string title;
    bool right = false;
  };
  Table(std::string caption, std::vector<Column> columns);
  void add(const std::vector<std::string> &cells, bool marked = false);
  bool empty() const { return rows_ == 0; }
  std::string text() const;

 private:
  std::string caption_, body_;
  std::vector<Column> columns_;
  std::size_t rows_ = 0;
};

// A drawing that says in words what it shows.
std::string drawing(const std::string &title, const std::string &svg);
// The plot as SVG, which prints and needs no script, and its data for the chart that the page draws in its place.
std::string figure(const sextant::Plot &plot);
Json plot_json(const sextant::Plot &plot);

}  // namespace tool::html
