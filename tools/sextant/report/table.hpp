// SPDX-License-Identifier: BSD-3-Clause
// Tables of text, and numbers written for people.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "report/output.hpp"

namespace tool {

// Columns as wide as their widest cell; numbers to the right, words to the left. The last column is never padded.
class Table {
 public:
  struct Column {
    std::string title;
    bool right = false;
  };
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void add(std::vector<std::string> cells, Style style = Style::plain);
  bool empty() const { return rows_.empty(); }
  // The whole table, title row first, each line with `indent` spaces in front.
  std::string text(int indent = 0) const;

 private:
  struct Row {
    std::vector<std::string> cells;
    Style style;
  };
  std::string line(const std::vector<std::string> &cells, const std::vector<std::size_t> &widths) const;
  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

// "1.23 ms"; "-" for what is not a number or not finite.
std::string seconds_text(double seconds);
// "1.2 MB", powers of 1000.
std::string bytes_text(double bytes);
// "290,378"
std::string count_text(std::int64_t count);
// Columns a terminal needs for UTF-8 text: one a code point.
std::size_t display_width(std::string_view text);

}  // namespace tool
