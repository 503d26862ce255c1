// SPDX-License-Identifier: BSD-3-Clause
// Reads Harwell-Boeing and Rutherford-Boeing files (I. S. Duff, R. G. Grimes, J. G. Lewis, "The Rutherford-Boeing
// sparse matrix collection", RAL-TR-97-031, 1997): assembled matrices by columns, real, integer, complex or a pattern,
// unsymmetric, rectangular, symmetric, skew-symmetric or Hermitian. The caller assembles them as entries of a Matrix
// Market file.
#pragma once

#include <string>

#include "core/io/mm_entries.hpp"

namespace sextant::io::detail {

// Whether a name ends with .rb, .hb or the three letters of a type such as .rua, before an optional .gz.
bool is_boeing_name(const std::string &path);

// The parts of a file, in their order. The header's numbers of columns and lines are not needed: a section begins on a
// line of its own, and its format says how many numbers a line has.
class BoeingReader {
 public:
  // Reads the four or five lines of the header. Throws Fault.
  BoeingReader(LineReader &lines, std::uint64_t text_limit);
  const Header &header() const { return header_; }
  std::uint64_t sizes_offset() const { return sizes_offset_; }  // of the line with the sizes
  // Every entry in the order of the file, one-based. Throws Fault.
  ParsedEntries entries(sxt_value_type value_type, bool check_finite, const Allocator &allocator);

 private:
  // How many numbers a line has, and how wide each is.
  struct Format {
    std::int64_t count = 1, width = 0;
  };
  class Numbers;

  [[noreturn]] void fault(std::string message, sxt_status status = SXT_E_FILE_FORMAT) const;
  void read_line(const char *what);
  void read_sizes();
  void read_type(std::string_view type);
  Format format(std::string_view text, const char *what) const;
  template <class I>
  void read_places(ParsedEntries &out);
  template <class V>
  void read_values(ParsedEntries &out, bool check_finite);

  LineReader &lines_;
  std::uint64_t text_limit_, sizes_offset_ = 0;
  Header header_;
  Format pointers_, indices_, values_;
  bool right_hand_sides_ = false;
};

}  // namespace sextant::io::detail
