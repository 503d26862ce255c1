// SPDX-License-Identifier: BSD-3-Clause
// Symmetric positive definite matrices to measure on: stencils by name and size, Matrix Market files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bench_cholesky {

// The lower triangle with its diagonal, row by row, columns ascending.
struct Problem {
  std::string name;
  std::int32_t n = 0;
  std::vector<std::int32_t> row_ptr{0}, col;
  std::vector<double> values;
};

// "5-point 300", "7-point 40", "27-point 20 3" (unknowns a point), or a file.
Problem make_problem(const std::string &words);

}  // namespace bench_cholesky
