// SPDX-License-Identifier: BSD-3-Clause
// The matrices of the cases.
#include "problems.hpp"

#include <cmath>
#include <cstdint>
#include <map>

namespace pcg_reference {
namespace {

using Rows = std::vector<std::map<std::int32_t, Number>>;

Matrix from_rows(const Rows &rows) {
  Matrix a;
  a.n = static_cast<std::int64_t>(rows.size());
  for (const auto &row : rows) {
    for (const auto &[column, value] : row) {
      a.col.push_back(column);
      a.values.push_back(value);
    }
    a.row_ptr.push_back(static_cast<std::int32_t>(a.col.size()));
  }
  return a;
}

}  // namespace

std::uint64_t Random::next() {
  std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

double Random::uniform() { return std::ldexp(static_cast<double>(next() >> 11), -52) - 1; }

std::vector<Number> Matrix::multiply(const std::vector<Number> &x) const {
  std::vector<Number> y(x.size());
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int32_t k = row_ptr[i]; k < row_ptr[i + 1]; ++k) y[i] += values[k] * x[col[k]];
  return y;
}

Matrix tridiagonal(std::int64_t n, double diagonal, double off_diagonal) {
  Rows rows(n);
  for (std::int64_t i = 0; i < n; ++i) {
    rows[i][static_cast<std::int32_t>(i)] = diagonal;
    if (i > 0) rows[i][static_cast<std::int32_t>(i - 1)] = off_diagonal;
    if (i + 1 < n) rows[i][static_cast<std::int32_t>(i + 1)] = off_diagonal;
  }
  return from_rows(rows);
}

Matrix five_point(std::int64_t nx, std::int64_t ny, double jump, double shift) {
  Rows rows(nx * ny);
  const auto coefficient = [&](std::int64_t i) { return 2 * i < nx ? 1.0 : jump; };
  // One edge of the grid, or one to the boundary when `to` is negative.
  const auto edge = [&](std::int64_t from, std::int64_t to, double c) {
    rows[from][static_cast<std::int32_t>(from)] += c;
    if (to < 0) return;
    rows[to][static_cast<std::int32_t>(to)] += c;
    rows[from][static_cast<std::int32_t>(to)] -= c;
    rows[to][static_cast<std::int32_t>(from)] -= c;
  };
  for (std::int64_t j = 0; j < ny; ++j) {
    for (std::int64_t i = 0; i < nx; ++i) {
      const std::int64_t here = j * nx + i;
      const double c = coefficient(i);
      edge(here, i + 1 < nx ? here + 1 : -1, c);
      edge(here, j + 1 < ny ? here + nx : -1, c);
      if (i == 0) edge(here, -1, c);
      if (j == 0) edge(here, -1, c);
      rows[here][static_cast<std::int32_t>(here)] -= shift;
    }
  }
  return from_rows(rows);
}

Matrix diagonally_dominant(std::int64_t n, bool complex, std::uint64_t seed) {
  Random random(seed);
  Rows rows(n);
  for (std::int64_t i = 0; i < n; ++i) {
    for (int entry = 0; entry < 3; ++entry) {
      const auto j = static_cast<std::int64_t>(random.next() % static_cast<std::uint64_t>(n));
      const double re = random.uniform(), im = complex ? random.uniform() : 0;
      if (j == i) continue;
      rows[i][static_cast<std::int32_t>(j)] = {re, im};
      rows[j][static_cast<std::int32_t>(i)] = {re, -im};
    }
  }
  for (std::int64_t i = 0; i < n; ++i) {
    double sum = 1;
    for (const auto &[column, value] : rows[i]) sum += std::abs(value);
    rows[i][static_cast<std::int32_t>(i)] = sum;
  }
  return from_rows(rows);
}

}  // namespace pcg_reference
