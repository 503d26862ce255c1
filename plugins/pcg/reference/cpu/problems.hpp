// SPDX-License-Identifier: BSD-3-Clause
// Small matrices for the cases of the kind: Hermitian, by formula or from a seed.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

namespace pcg_reference {

using Number = std::complex<double>;

// The same numbers from the same seed on every machine (splitmix64).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();
  double uniform();  // in [-1, 1)

 private:
  std::uint64_t state_;
};

// CSR with sorted columns.
struct Matrix {
  std::int64_t n = 0;
  std::vector<std::int32_t> row_ptr{0}, col;
  std::vector<Number> values;

  std::vector<Number> multiply(const std::vector<Number> &x) const;
};

// diagonal on the diagonal, off_diagonal beside it.
Matrix tridiagonal(std::int64_t n, double diagonal, double off_diagonal);
// -div(c grad) on nx x ny points, 5-point stencil, c jumping between 1 and `jump` by halves, minus shift * I.
Matrix five_point(std::int64_t nx, std::int64_t ny, double jump, double shift);
// About 6 entries a row in random places, diagonal = 1 + the sum of the absolute values beside it.
Matrix diagonally_dominant(std::int64_t n, bool complex, std::uint64_t seed);

}  // namespace pcg_reference
