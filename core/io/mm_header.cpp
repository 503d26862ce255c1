// SPDX-License-Identifier: BSD-3-Clause
// Parses banner and size line, case-insensitively, with a message for each way they can be wrong.
#include "core/io/mm_header.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "core/base/types.hpp"

namespace sextant::io::detail {

namespace {

template <class... Parts>
[[noreturn]] void fault(const LineReader &at, sxt_status status, const Parts &...parts) {
  throw Fault{status, at.offset(), text(parts...)};
}

std::string lower(std::string_view word) {
  std::string out(word);
  for (char &c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

bool starts_with(std::string_view line, std::string_view start) { return line.substr(0, start.size()) == start; }

void check_banner_word(const LineReader &lines, const std::vector<std::string_view> &words) {
  const std::string first = words.empty() ? std::string() : lower(words[0]);
  // One percent sign is what some writers put; nothing else starts like this.
  if (first == "%%matrixmarket" || first == "%matrixmarket") return;
  if (starts_with(lines.line(), "version https://git-lfs"))
    fault(lines, SXT_E_FILE_FORMAT, "this is a Git LFS pointer, not the file itself: fetch it with 'git lfs pull'");
  fault(lines, SXT_E_FILE_FORMAT, "expected the banner '%%MatrixMarket matrix ...', found ",
        words.empty() ? "an empty line" : quoted(words[0]));
}

Field parse_field(const LineReader &lines, const std::string &word) {
  if (word == "real" || word == "double") return Field::real;
  if (word == "integer") return Field::integer;
  if (word == "unsigned-integer") return Field::unsigned_integer;
  if (word == "pattern") return Field::pattern;
  if (word == "complex") return Field::complex;
  fault(lines, SXT_E_FILE_FORMAT, "unknown field ", quoted(word), ": expected real, integer, pattern or complex");
}

sxt_symmetry parse_symmetry(const LineReader &lines, const std::string &word) {
  if (word == "general") return SXT_GENERAL;
  if (word == "symmetric") return SXT_SYMMETRIC;
  if (word == "skew-symmetric") return SXT_SKEW;
  if (word == "hermitian") return SXT_HERMITIAN;
  fault(lines, SXT_E_FILE_FORMAT, "unknown symmetry ", quoted(word),
        ": expected general, symmetric, skew-symmetric or hermitian");
}

// Combinations that the words allow but the format does not.
void check_combination(const LineReader &lines, const Header &h) {
  const bool pattern = h.field == Field::pattern;
  if (pattern && !h.coordinate)
    fault(lines, SXT_E_FILE_FORMAT, "an array cannot be a pattern: it would hold nothing; expected coordinate pattern");
  if (pattern && (h.symmetry == SXT_SKEW || h.symmetry == SXT_HERMITIAN))
    fault(lines, SXT_E_FILE_FORMAT, "a pattern cannot be ", h.symmetry_name, ": it has no values");
  if (h.vector && h.symmetry != SXT_GENERAL)
    fault(lines, SXT_E_FILE_FORMAT, "a vector cannot be ", h.symmetry_name, ": expected general");
}

Header parse_banner(const LineReader &lines) {
  // A byte order mark is no part of the banner.
  std::string_view line = lines.line();
  if (starts_with(line, "\xef\xbb\xbf")) line.remove_prefix(3);
  const std::vector<std::string_view> words = split(line);
  check_banner_word(lines, words);
  if (words.size() != 5)
    fault(lines, SXT_E_FILE_FORMAT, "the banner has ", words.size(),
          " words, expected 5: %%MatrixMarket, object, format, field, symmetry");
  Header h;
  const std::string object = lower(words[1]), format = lower(words[2]);
  h.vector = object == "vector";
  if (!h.vector && object != "matrix")
    fault(lines, SXT_E_FILE_FORMAT, "unknown object ", quoted(words[1]), ": expected matrix or vector");
  h.coordinate = format == "coordinate";
  if (!h.coordinate && format != "array")
    fault(lines, SXT_E_FILE_FORMAT, "unknown format ", quoted(words[2]), ": expected coordinate or array");
  h.field = parse_field(lines, lower(words[3]));
  h.symmetry_name = lower(words[4]);
  h.symmetry = parse_symmetry(lines, h.symmetry_name);
  h.field_name = h.field == Field::unsigned_integer ? "integer" : h.field == Field::real ? "real" : lower(words[3]);
  check_combination(lines, h);
  return h;
}

std::int64_t parse_size(const LineReader &lines, std::string_view word, const char *what) {
  std::int64_t size = 0;
  const char *begin = word.data() + (word[0] == '+'), *end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(begin, end, size);
  if (error == std::errc::result_out_of_range)
    fault(lines, SXT_E_OVERFLOW, "the number of ", what, ", ", quoted(word), ", does not fit 64 bits");
  if (error != std::errc() || stop != end)
    fault(lines, SXT_E_FILE_FORMAT, "the number of ", what, ", ", quoted(word), ", is not an integer");
  if (size < 0) fault(lines, SXT_E_FILE_FORMAT, "the number of ", what, " is negative: ", size);
  if (size >= kLargestSize) fault(lines, SXT_E_OVERFLOW, "the number of ", what, ", ", size, ", is too large");
  return size;
}

// Entries that an array file of this shape holds: all, or one triangle by columns, without the diagonal if skew.
std::int64_t array_entries(const LineReader &lines, const Header &h) {
  std::int64_t all = 0;
  if (__builtin_mul_overflow(h.rows, h.cols, &all) || all >= kLargestSize)
    fault(lines, SXT_E_OVERFLOW, "a dense matrix of ", h.rows, " x ", h.cols, " is too large");
  if (h.symmetry == SXT_GENERAL) return all;
  return h.symmetry == SXT_SKEW ? (all - h.rows) / 2 : (all + h.rows) / 2;
}

void parse_sizes(const LineReader &lines, Header &h) {
  const std::vector<std::string_view> words = split(lines.line());
  const std::size_t expected = (h.vector ? 1u : 2u) + (h.coordinate ? 1u : 0u);
  if (words.size() != expected)
    fault(lines, SXT_E_FILE_FORMAT, "the size line has ", words.size(), " words, expected ", expected, ": ",
          h.vector ? "length" : "rows, columns", h.coordinate ? ", entries" : "");
  h.rows = parse_size(lines, words[0], h.vector ? "elements" : "rows");
  h.cols = h.vector ? 1 : parse_size(lines, words[1], "columns");
  if (h.symmetry != SXT_GENERAL && h.rows != h.cols)
    fault(lines, SXT_E_FILE_FORMAT, "a ", h.symmetry_name, " matrix must be square, not ", h.rows, " x ", h.cols);
  h.stored = h.coordinate ? parse_size(lines, words.back(), "entries") : array_entries(lines, h);
}

}  // namespace

std::vector<std::string_view> split(std::string_view line) {
  std::vector<std::string_view> words;
  for (std::size_t at = line.find_first_not_of(" \t"); at != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(" \t", at), line.size());
    words.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(" \t", end);
  }
  return words;
}

std::string quoted(std::string_view token) {
  constexpr std::size_t kShown = 40;
  std::string out = "'";
  for (const char c : token.substr(0, kShown)) out += c >= ' ' && c <= '~' ? c : '?';
  out += token.size() > kShown ? "...'" : "'";
  return out;
}

Header read_header(LineReader &lines) {
  if (!lines.next()) throw Fault{SXT_E_FILE_FORMAT, 0, "the file is empty"};
  Header header = parse_banner(lines);
  while (lines.next()) {
    if (is_comment_or_empty(lines.line())) continue;
    parse_sizes(lines, header);
    return header;
  }
  fault(lines, SXT_E_FILE_FORMAT, "the file ends before its size line");
}

}  // namespace sextant::io::detail
