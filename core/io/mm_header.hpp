// SPDX-License-Identifier: BSD-3-Clause
// The banner and the size line of a Matrix Market file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/io/mm_text.hpp"

namespace sextant::io::detail {

enum class Field { real, integer, unsigned_integer, pattern, complex };

struct Header {
  bool vector = false;     // a vector object: one size, one index an entry
  bool coordinate = true;  // else array
  Field field = Field::real;
  std::string field_name, symmetry_name;  // normalised, for MatrixMarketInfo
  sxt_symmetry symmetry = SXT_GENERAL;
  std::int64_t rows = 0, cols = 0;
  std::int64_t stored = 0;  // entries that the file must hold

  int indices() const { return !coordinate ? 0 : vector ? 1 : 2; }
  int values() const { return field == Field::pattern ? 0 : field == Field::complex ? 2 : 1; }
};

// Reads banner and size line; the reader then stands on the size line. Throws Fault.
Header read_header(LineReader &lines);

// Words between blanks.
std::vector<std::string_view> split(std::string_view line);

// A token for an error sentence: quoted, shortened, unprintable characters replaced.
std::string quoted(std::string_view token);

inline bool is_comment_or_empty(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t");
  return first == std::string_view::npos || line[first] == '%';
}

}  // namespace sextant::io::detail
