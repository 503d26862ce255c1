// SPDX-License-Identifier: BSD-3-Clause
#include "report/write_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <string_view>
#include <vector>

#include "report/error.hpp"
#include "report/text_file.hpp"

namespace tool {
namespace {

// Columns of a line of a Rutherford-Boeing file, and of a value on it: a sign, 17 digits, a point and an exponent.
constexpr std::int64_t line_width = 80, value_width = 26;

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// Whether an entry is written: those of the lower triangle, of a skew-symmetric matrix without the diagonal.
bool is_written(const MatrixView &a, std::int64_t row, std::int64_t column) {
  if (a.symmetry == SXT_GENERAL) return true;
  return a.symmetry == SXT_SKEW ? column < row : column <= row;
}

const char *symmetry_word(sxt_symmetry symmetry) {
  switch (symmetry) {
    case SXT_SYMMETRIC: return "symmetric";
    case SXT_HERMITIAN: return "hermitian";
    case SXT_SKEW: return "skew-symmetric";
    default: return "general";
  }
}

void write_matrix_market(TextFile &file, const MatrixView &a, bool pattern) {
  std::int64_t entries = 0;
  for (std::int64_t row = 0; row < a.rows; ++row)
    for (std::int64_t k = a.begin(row); k < a.end(row); ++k) entries += is_written(a, row, a.column(k));
  file.write(fmt::format("%%MatrixMarket matrix coordinate {} {}\n{} {} {}\n",
                         pattern       ? "pattern"
                         : a.complex() ? "complex"
                                       : "real",
                         symmetry_word(a.symmetry), a.rows, a.cols, entries));
  fmt::memory_buffer lines;
  for (std::int64_t row = 0; row < a.rows; ++row) {
    lines.clear();
    for (std::int64_t k = a.begin(row); k < a.end(row); ++k) {
      if (!is_written(a, row, a.column(k))) continue;
      const auto out = std::back_inserter(lines);
      fmt::format_to(out, "{} {}", row + 1, a.column(k) + 1);
      if (!pattern) fmt::format_to(out, " {}", a.value(k).real());
      if (!pattern && a.complex()) fmt::format_to(out, " {}", a.value(k).imag());
      lines.push_back('\n');
    }
    file.write({lines.data(), lines.size()});
  }
}

// The entries that are written, by columns.
struct ByColumns {
  std::vector<std::int64_t> begin, row, entry;  // entry: where the value stands in the CSR
  explicit ByColumns(const MatrixView &a) : begin(static_cast<std::size_t>(a.cols) + 1) {
    each(a, [&](std::int64_t, std::int64_t column, std::int64_t) { ++begin[static_cast<std::size_t>(column) + 1]; });
    for (std::size_t j = 1; j < begin.size(); ++j) begin[j] += begin[j - 1];
    row.resize(static_cast<std::size_t>(begin.back()));
    entry.resize(row.size());
    std::vector<std::int64_t> next(begin.begin(), begin.end() - 1);
    each(a, [&](std::int64_t i, std::int64_t column, std::int64_t k) {
      const auto place = static_cast<std::size_t>(next[static_cast<std::size_t>(column)]++);
      row[place] = i;
      entry[place] = k;
    });
  }

 private:
  template <class F>
  static void each(const MatrixView &a, F f) {
    for (std::int64_t i = 0; i < a.rows; ++i)
      for (std::int64_t k = a.begin(i); k < a.end(i); ++k)
        if (is_written(a, i, a.column(k))) f(i, a.column(k), k);
  }
};

// Numbers in columns of one width, as many a line as the format says.
class Section {
 public:
  Section(TextFile &file, std::int64_t width) : file_(file), width_(width), count_(line_width / width) {}
  std::int64_t count() const { return count_; }
  static std::int64_t lines(std::int64_t numbers, std::int64_t count) { return (numbers + count - 1) / count; }
  void add(std::string_view number) {
    fmt::format_to(std::back_inserter(text_), "{:>{}}", number, width_);
    if (++on_line_ == count_) end_line();
  }
  void end() {
    if (on_line_ > 0) end_line();
  }

 private:
  void end_line() {
    text_.push_back('\n');
    file_.write({text_.data(), text_.size()});
    text_.clear();
    on_line_ = 0;
  }

  TextFile &file_;
  std::int64_t width_, count_, on_line_ = 0;
  fmt::memory_buffer text_;
};

std::string real_text(double value) { return fmt::format("{:.16E}", value); }

// What a title may hold: printable ASCII, and no more than its columns.
std::string fitted(std::string title, std::size_t width) {
  std::replace_if(
      title.begin(), title.end(), [](unsigned char c) { return c < 0x20 || c > 0x7e; }, '?');
  title.resize(width, ' ');
  return title;
}

void write_rutherford_boeing(TextFile &file, const MatrixView &a, bool pattern, const std::string &title) {
  const ByColumns columns(a);
  const auto entries = static_cast<std::int64_t>(columns.row.size());
  const auto width_of = [](std::int64_t largest) {
    return static_cast<std::int64_t>(fmt::formatted_size("{}", largest)) + 1;
  };
  const std::int64_t pointer_width = width_of(entries + 1), index_width = width_of(a.rows);
  Section pointers(file, pointer_width), indices(file, index_width), values(file, value_width);
  const std::int64_t numbers = pattern ? 0 : entries * (a.complex() ? 2 : 1);
  const std::int64_t pointer_lines = Section::lines(a.cols + 1, pointers.count());
  const std::int64_t index_lines = Section::lines(entries, indices.count());
  const std::int64_t value_lines = Section::lines(numbers, values.count());
  file.write(fitted(title, 72) + fitted("sextant", 8) + "\n");
  file.write(fmt::format("{:14}{:14}{:14}{:14}\n", pointer_lines + index_lines + value_lines, pointer_lines,
                         index_lines, value_lines));
  file.write(fmt::format("{:14}{:14}{:14}{:14}{:14}\n", fmt::format("{:<14}", boeing_type(a, pattern)), a.rows, a.cols,
                         entries, 0));
  file.write(fmt::format("{:16}{:16}{:20}\n", fmt::format("({}I{})", pointers.count(), pointer_width),
                         fmt::format("({}I{})", indices.count(), index_width),
                         pattern ? "" : fmt::format("({}E{}.16)", values.count(), value_width)));
  for (const std::int64_t place : columns.begin) pointers.add(fmt::format("{}", place + 1));
  pointers.end();
  for (const std::int64_t row : columns.row) indices.add(fmt::format("{}", row + 1));
  indices.end();
  if (pattern) return;
  for (const std::int64_t k : columns.entry) {
    values.add(real_text(a.value(k).real()));
    if (a.complex()) values.add(real_text(a.value(k).imag()));
  }
  values.end();
}

}  // namespace

MatrixFormat format_of_name(const std::string &path) {
  std::string name = lower_case(path.substr(path.find_last_of('/') + 1));
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  const std::size_t dot = name.find_last_of('.');
  const std::string end = dot == std::string::npos ? "" : name.substr(dot + 1);
  if (end == "mtx") return MatrixFormat::matrix_market;
  const auto one_of = [](char c, std::string_view letters) { return letters.find(c) != std::string_view::npos; };
  const bool typed = end.size() == 3 && one_of(end[0], "rcp") && one_of(end[1], "usrzh") && end[2] == 'a';
  if (end == "rb" || end == "hb" || typed) return MatrixFormat::rutherford_boeing;
  fail(exit_usage,
       "{}: the name does not say the format: .mtx is Matrix Market, .rb (or .rua, .rsa, ...) Rutherford-Boeing, each "
       "with .gz or without",
       path);
}

std::string boeing_type(const MatrixView &a, bool pattern) {
  const char kind = pattern ? 'p' : a.complex() ? 'c' : 'r';
  const char shape = a.symmetry == SXT_SYMMETRIC   ? 's'
                     : a.symmetry == SXT_HERMITIAN ? 'h'
                     : a.symmetry == SXT_SKEW      ? 'z'
                     : a.rows == a.cols            ? 'u'
                                                   : 'r';
  return {kind, shape, 'a'};
}

void write_matrix(const std::string &path, MatrixFormat format, const MatrixView &a, bool pattern,
                  const std::string &title) {
  TextFile file(path);
  if (format == MatrixFormat::matrix_market)
    write_matrix_market(file, a, pattern);
  else
    write_rutherford_boeing(file, a, pattern, title);
  file.commit();
}

}  // namespace tool
