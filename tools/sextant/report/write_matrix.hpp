// SPDX-License-Identifier: BSD-3-Clause
// Matrices as files, in the formats that the library reads: Matrix Market, and Rutherford-Boeing by columns. Numbers
// have the digits that read back to the same bits, and of a symmetric matrix one triangle is written.
#pragma once

#include <complex>
#include <cstdint>
#include <string>

#include "sextant/sextant.h"

namespace tool {

// A canonical CSR that lies elsewhere: zero-based, columns ascending, both triangles of a symmetric matrix.
struct MatrixView {
  std::int64_t rows = 0, cols = 0;
  sxt_symmetry symmetry = SXT_GENERAL;
  sxt_value_type value_type = SXT_F64;  // or SXT_C128, as files are
  sxt_index_type offset_type = SXT_I32, index_type = SXT_I32;
  const void *row_ptr = nullptr, *col = nullptr, *values = nullptr;

  bool complex() const { return value_type == SXT_C128; }
  std::int64_t begin(std::int64_t row) const { return at(row_ptr, offset_type, row); }
  std::int64_t end(std::int64_t row) const { return begin(row + 1); }
  std::int64_t column(std::int64_t k) const { return at(col, index_type, k); }
  std::complex<double> value(std::int64_t k) const {
    const auto *numbers = static_cast<const double *>(values);
    return complex() ? std::complex<double>(numbers[2 * k], numbers[2 * k + 1]) : numbers[k];
  }

 private:
  static std::int64_t at(const void *array, sxt_index_type type, std::int64_t i) {
    return type == SXT_I64 ? static_cast<const std::int64_t *>(array)[i] : static_cast<const std::int32_t *>(array)[i];
  }
};

enum class MatrixFormat { matrix_market, rutherford_boeing };

// By the ending of a name, before an optional .gz: .mtx, or .rb, .hb and three letters of a type such as .rua. Throws a
// ToolError (usage) for another one.
MatrixFormat format_of_name(const std::string &path);
// The three letters of a matrix's type, such as "rsa"; a pattern has "p" in front.
std::string boeing_type(const MatrixView &a, bool pattern);
// Compressed by gzip where the name ends with .gz. pattern: places alone. title: of Rutherford-Boeing, 72 characters at
// most.
void write_matrix(const std::string &path, MatrixFormat format, const MatrixView &a, bool pattern,
                  const std::string &title);

}  // namespace tool
