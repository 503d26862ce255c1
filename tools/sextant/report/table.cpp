// SPDX-License-Identifier: BSD-3-Clause
// Lays out tables and writes numbers for people.
#include "report/table.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace tool {

std::size_t display_width(std::string_view text) {
  // Continuation bytes of UTF-8 take no further column.
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

void Table::add(std::vector<std::string> cells, Style style) {
  cells.resize(columns_.size());
  rows_.push_back({std::move(cells), style});
}

std::string Table::line(const std::vector<std::string> &cells, const std::vector<std::size_t> &widths) const {
  std::string line;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    const std::string padding(widths[c] - std::min(widths[c], display_width(cells[c])), ' ');
    const bool last = c + 1 == cells.size();
    if (columns_[c].right) {
      line += padding + cells[c];
    } else {
      line += last ? cells[c] : cells[c] + padding;
    }
    if (!last) line += "  ";
  }
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

std::string Table::text(int indent) const {
  std::vector<std::string> titles;
  std::vector<std::size_t> widths;
  for (const Column &column : columns_) {
    titles.push_back(column.title);
    widths.push_back(display_width(column.title));
  }
  for (const Row &row : rows_) {
    for (std::size_t c = 0; c < widths.size(); ++c) widths[c] = std::max(widths[c], display_width(row.cells[c]));
  }
  const std::string margin(static_cast<std::size_t>(indent), ' ');
  std::string text = margin + styled(Style::bold, line(titles, widths)) + "\n";
  for (const Row &row : rows_) text += margin + styled(row.style, line(row.cells, widths)) + "\n";
  return text;
}

std::string seconds_text(double seconds) {
  if (!std::isfinite(seconds)) return "-";
  const double size = std::abs(seconds);
  if (size == 0) return "0 s";
  // A number that three digits would round up to 1000 takes the next unit.
  if (size < 999.5e-9) return fmt::format("{:.3g} ns", seconds * 1e9);
  if (size < 999.5e-6) return fmt::format("{:.3g} us", seconds * 1e6);
  if (size < 999.5e-3) return fmt::format("{:.3g} ms", seconds * 1e3);
  return size < 999.5 ? fmt::format("{:.3g} s", seconds) : fmt::format("{:.0f} s", seconds);
}

std::string bytes_text(double bytes) {
  if (!std::isfinite(bytes)) return "-";
  constexpr std::array<const char *, 5> units = {"B", "kB", "MB", "GB", "TB"};
  std::size_t unit = 0;
  while (std::abs(bytes) >= 999.5 && unit + 1 < units.size()) {
    bytes /= 1000;
    ++unit;
  }
  return fmt::format("{:.3g} {}", bytes, units[unit]);
}

std::string count_text(std::int64_t count) {
  std::string digits = std::to_string(count);
  // Commas from the right, stopping before a minus sign.
  const std::int64_t first = digits.front() == '-' ? 2 : 1;
  for (std::int64_t i = static_cast<std::int64_t>(digits.size()) - 3; i >= first; i -= 3)
    digits.insert(static_cast<std::size_t>(i), 1, ',');
  return digits;
}

}  // namespace tool
