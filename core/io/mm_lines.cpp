// SPDX-License-Identifier: BSD-3-Clause
// A second, slow look at a file, line by line, to name the lines that an error is about.
#include <charconv>
#include <cstdint>

#include "core/io/mm_entries.hpp"

namespace sextant::io::detail {

namespace {

// f(line reader) for each data line until it returns false. Returns the number of the last line looked at.
template <class F>
std::int64_t for_data_lines(const std::string &path, const Allocator &allocator, F &&f) {
  const std::unique_ptr<TextSource> source = open_text(path, allocator);
  LineReader lines(*source);
  read_header(lines);
  while (lines.next())
    if (!is_comment_or_empty(lines.line()) && !f(lines)) break;
  return lines.number();
}

// The index in word i, which has been parsed before; 1 where a vector has no column.
std::int64_t index_of(const std::vector<std::string_view> &words, std::size_t i, int indices) {
  if (static_cast<int>(i) >= indices || i >= words.size()) return 1;
  const std::string_view word = words[i];
  std::int64_t index = 0;
  std::from_chars(word.data() + (word[0] == '+'), word.data() + word.size(), index);
  return index;
}

}  // namespace

std::int64_t line_of_offset(const std::string &path, std::uint64_t offset, const Allocator &allocator) {
  const std::unique_ptr<TextSource> source = open_text(path, allocator);
  LineReader lines(*source);
  try {
    while (lines.next())
      if (offset <= lines.offset() + lines.line().size()) return lines.number();
  } catch (const Fault &) {
    // The source itself ends here: the line after the last whole one.
    return lines.number() + 1;
  }
  return std::max<std::int64_t>(lines.number(), 1);
}

std::int64_t line_of_entry(const std::string &path, std::int64_t number, const Allocator &allocator) {
  return for_data_lines(path, allocator, [&](const LineReader &) { return number-- > 0; });
}

LinePair lines_of_place(const std::string &path, const Header &header, std::int64_t row, std::int64_t col,
                        bool mirrored, const Allocator &allocator) {
  LinePair pair;
  for_data_lines(path, allocator, [&](const LineReader &lines) {
    const std::vector<std::string_view> words = split(lines.line());
    const std::int64_t r = index_of(words, 0, header.indices()), c = index_of(words, 1, header.indices());
    const bool here = (r == row && c == col) || (mirrored && r == col && c == row);
    if (here) (pair.first == 0 ? pair.first : pair.second) = lines.number(), pair.row = r, pair.col = c;
    return pair.second == 0;
  });
  return pair;
}

std::int64_t line_of_odd_diagonal(const std::string &path, const Header &header, const Allocator &allocator) {
  // A skew value must be zero, a Hermitian imaginary part too: the last word of the line either way, but a complex
  // skew value may have its nonzero part before it.
  const int looked_at = header.symmetry == SXT_SKEW ? header.values() : 1;
  const auto is_zero = [](std::string_view word) {
    return word.substr(0, word.find_first_of("eEdD")).find_first_of("123456789in") == std::string_view::npos;
  };
  return for_data_lines(path, allocator, [&](const LineReader &lines) {
    const std::vector<std::string_view> words = split(lines.line());
    if (words.size() < 3) return true;  // parsed before, but the file may have been changed since
    bool zero = true;
    for (int i = 0; i < looked_at; ++i) zero = zero && is_zero(words[words.size() - 1 - static_cast<std::size_t>(i)]);
    return zero || index_of(words, 0, 2) != index_of(words, 1, 2);
  });
}

}  // namespace sextant::io::detail
