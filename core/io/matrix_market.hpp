// SPDX-License-Identifier: BSD-3-Clause
// Reads and writes Matrix Market files (R. F. Boisvert, R. Pozo, K. A. Remington, "The Matrix Market exchange
// formats: initial design", NISTIR 5935, 1996): coordinate and array, real, integer, pattern and complex, general,
// symmetric, skew-symmetric and hermitian; plain or gzip; LF or CRLF; comments and blank lines anywhere after the
// banner.
#pragma once

#include <cstdint>
#include <string>

#include "core/matrix/assemble.hpp"

namespace sextant::io {

struct MatrixMarketInfo {
  bool coordinate = true;
  std::string field;     // "real", "integer", "pattern", "complex" as the file says (normalised to lower case)
  std::string symmetry;  // "general", "symmetric", "skew-symmetric", "hermitian"
  std::int64_t rows = 0, cols = 0, stored = 0;  // stored: entries in the file
};

struct ReadOptions {
  sxt_value_type value_type = 0;  // 0: c128 for complex files, f64 for all others
  bool sum_duplicates = true;     // false: SXT_E_DUPLICATE naming both lines
  bool check_finite = true;       // false: NaN, infinity and numbers too large for the type (as infinity) are read
  // A header may promise so many rows, or columns, for each byte of the file; 0: as many as it says. No file with an
  // entry in each row comes near, be it compressed: an entry takes 4 bytes, and a byte of gzip tells of 1032 at most.
  double most_rows_per_byte = usual_rows_per_byte;
  static constexpr double usual_rows_per_byte = 1000;
  double symmetry_tolerance = 0;  // SymmetryTolerance: what the header's symmetry may be off by
  int threads = 1;
};

struct MatrixMarketMatrix {
  MatrixMarketInfo info;
  CsrArrays csr;
  sxt_symmetry symmetry = SXT_GENERAL;
  std::string note;  // not empty: how a file that departs from its own header was understood, "path: ..."
};

// Reads as docs/matrix_market.md says; a file whose name says Harwell-Boeing or Rutherford-Boeing as harwell_boeing.hpp
// does. `symmetry` above is what the entries are, which the header may contradict: then
// it is general and `note` says why. Explicit zeros stay. Throws SXT_E_FILE_READ or SXT_E_FILE_FORMAT with "path:line:
// what is wrong"; index and overflow errors likewise.
MatrixMarketMatrix read_matrix(const std::string &path, const ReadOptions &options, const Allocator &allocator);

// A vector: an array or coordinate file with one column (or one row). Values of `value_type`, n of them; what a
// coordinate file does not name is zero.
struct MatrixMarketVector {
  std::int64_t n = 0;
  sxt_value_type value_type = SXT_F64;
  Buffer values;
};
MatrixMarketVector read_vector(const std::string &path, const ReadOptions &options, const Allocator &allocator);

// Writes an n x 1 array file with enough digits to read back the same bits. Written beside the target and renamed, so
// that a full disk leaves the old file alone; a target that is no regular file (a pipe, /dev/stdout) is written
// directly. SXT_E_FILE_WRITE names the path and the system's reason.
void write_vector(const std::string &path, std::int64_t n, sxt_value_type type, const void *values);

}  // namespace sextant::io
