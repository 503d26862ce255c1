// SPDX-License-Identifier: BSD-3-Clause
// The entries of a Matrix Market file, parsed by several threads into arrays in file order.
#pragma once

#include <cstdint>

#include "core/io/matrix_market.hpp"
#include "core/io/mm_header.hpp"
#include "core/matrix/assemble_internal.hpp"

namespace sextant::io::detail {

struct ParsedEntries {
  // One-based rows and columns (none for arrays) and values (none for patterns), in file order.
  sextant::detail::OwnedEntries entries;
  bool lower = false, upper = false;  // some coordinate entry lies below, above the diagonal
  bool odd_diagonal = false;          // nonzero in a skew file, not real in a Hermitian one
};

// Throws Fault for the first bad place in the file.
ParsedEntries parse_entries(TextSource &source, LineReader &after_header, const std::string &path, const Header &header,
                            sxt_value_type value_type, const ReadOptions &options, const Allocator &allocator);

// A file that holds more or fewer entries than it should: which line shows it is found afterwards.
struct WrongCount {
  std::int64_t found;  // all of them when too few; -1: more than there should be
};

// The matrix of an array file: every entry is there, zeros too. Frees `entries` when done.
CsrArrays array_to_csr(sextant::detail::OwnedEntries &entries, sxt_symmetry symmetry, int threads,
                       const Allocator &allocator);

// What a block of lines is checked against.
struct EntryRules {
  std::int64_t rows = 0, cols = 0;
  int indices = 2;
  bool integer = false, nonnegative = false;
  bool check_finite = true;
  sxt_symmetry symmetry = SXT_GENERAL;
};

// The entries of one block, in arrays that are reused from block to block.
struct Piece {
  Buffer row, col, values;
  std::int64_t capacity = 0, count = 0;
  bool lower = false, upper = false, odd_diagonal = false;
};

// Parses a block into `piece`; chosen once a file for its types.
using ParseBlock = void (*)(const Block &, const EntryRules &, Piece &);
ParseBlock choose_parser(const Header &header, sxt_index_type index_type, sxt_value_type value_type);

// Looking again at a file that is known to be wrong or odd, to say where. Lines count from 1; 0: not found.

// The line that the text's byte `offset` is in.
std::int64_t line_of_offset(const std::string &path, std::uint64_t offset, const Allocator &allocator);

// The line of entry `number` (from 0), or the last line when there are not so many.
std::int64_t line_of_entry(const std::string &path, std::int64_t number, const Allocator &allocator);

// The lines of the first two entries at (row, col), one-based, or at (col, row) when `mirrored`, in a file with this
// header.
struct LinePair {
  std::int64_t first = 0, second = 0;
  std::int64_t row = 0, col = 0;  // as the second one says
};
LinePair lines_of_place(const std::string &path, const Header &header, std::int64_t row, std::int64_t col,
                        bool mirrored, const Allocator &allocator);

// The line of the first diagonal entry whose value contradicts the header's symmetry.
std::int64_t line_of_odd_diagonal(const std::string &path, const Header &header, const Allocator &allocator);

}  // namespace sextant::io::detail
