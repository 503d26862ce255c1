// SPDX-License-Identifier: BSD-3-Clause
// For the tests of engines and preconditioners: small matrices beside the common helpers of all plugin tests.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "sextant/plugin/kinds/storage.h"
#include "sextant/sdk/kernel.hpp"
#include "tests/plugins/support.hpp"

namespace pcg_test {

using plugin_test::find_kernel;
using plugin_test::Host;
using plugin_test::load;
using plugin_test::load_own;
using plugin_test::make_exec;

inline sxt_machine make_machine(int units = 2) { return plugin_test::make_machine(units); }

template <class T>
struct Codes;
template <>
struct Codes<float> {
  static constexpr sxt_value_type type = SXT_F32;
};
template <>
struct Codes<double> {
  static constexpr sxt_value_type type = SXT_F64;
};
template <>
struct Codes<std::complex<float>> {
  static constexpr sxt_value_type type = SXT_C64;
};
template <>
struct Codes<std::complex<double>> {
  static constexpr sxt_value_type type = SXT_C128;
};

// A pseudo-random number in [-1, 1) that depends on i and a salt only.
inline double noise(std::uint64_t i, std::uint64_t salt = 0) {
  std::uint64_t z = (i + 1) * 0x9e3779b97f4a7c15u + salt * 0xd1342543de82ef95u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return std::ldexp(static_cast<double>((z ^ (z >> 31)) >> 11), -52) - 1;
}

// Host CSR as the storage kind publishes it.
template <class T>
struct Matrix {
  std::int64_t n = 0;
  std::vector<std::int32_t> row_ptr{0}, col;
  std::vector<T> values;

  sxt_csr view() const {
    sxt_csr a{};
    const bool complex = sextant::plugin::is_complex<T>;
    a.s = {{sizeof(sxt_csr), SXT_KIND_STORAGE_CSR},
           Codes<T>::type,
           SXT_I32,
           SXT_I32,
           SXT_SPACE_HOST,
           complex ? SXT_HERMITIAN : SXT_SYMMETRIC,
           0,
           n,
           n,
           static_cast<std::int64_t>(col.size())};
    a.row_ptr = row_ptr.data(), a.col = col.data(), a.values = values.data();
    return a;
  }
  sxt_matrix_query query() const {
    const sxt_csr a = view();
    sxt_matrix_query m{};
    m.q.flags = SXT_QUERY_MATRIX;
    m.q.expected_runs = 1;
    m.q.value_type = Codes<T>::type;
    m.rows = m.cols = n, m.nnz = a.s.nnz;
    m.matrix_type = Codes<T>::type, m.symmetry = a.s.symmetry, m.storage = SXT_KIND_STORAGE_CSR;
    return m;
  }
  void multiply(const T *x, T *y) const {
    for (std::int64_t i = 0; i < n; ++i) {
      T sum{};
      for (std::int32_t k = row_ptr[i]; k < row_ptr[i + 1]; ++k) sum += values[k] * x[col[k]];
      y[i] = sum;
    }
  }
  void append_row(const std::map<std::int32_t, T> &row) {
    for (const auto &[column, value] : row) col.push_back(column), values.push_back(value);
    row_ptr.push_back(static_cast<std::int32_t>(col.size()));
    ++n;
  }
};

// 5-point stencil on m x m points, zero outside; the edges that leave point i to the right and upwards have the weight
// c(i); minus shift on the diagonal.
template <class T>
Matrix<T> grid(
    std::int32_t m, const std::function<double(std::int32_t)> &c = [](std::int32_t) { return 1.0; }, double shift = 0) {
  std::vector<std::map<std::int32_t, T>> rows(static_cast<std::size_t>(m) * m);
  using Real = sextant::plugin::real_of<T>;
  for (std::int32_t i = 0; i < m * m; ++i) {
    const auto weight = static_cast<Real>(c(i));
    rows[i][i] -= static_cast<Real>(shift);
    for (const std::int32_t j : {i % m + 1 < m ? i + 1 : -1, i + m < m * m ? i + m : -1}) {
      rows[i][i] += weight;
      if (j < 0) continue;
      rows[j][j] += weight;
      rows[i][j] -= weight, rows[j][i] -= weight;
    }
    // The edges to the boundary on the left and below.
    rows[i][i] += weight * static_cast<Real>((i % m == 0) + (i < m));
  }
  Matrix<T> a;
  for (const auto &row : rows) a.append_row(row);
  return a;
}

template <class T>
Matrix<T> tridiagonal(std::int32_t n, T diagonal, T below) {
  Matrix<T> a;
  for (std::int32_t i = 0; i < n; ++i) {
    std::map<std::int32_t, T> row{{i, diagonal}};
    if (i > 0) row[i - 1] = below;
    if (i + 1 < n) row[i + 1] = sextant::plugin::conjugate(below);
    a.append_row(row);
  }
  return a;
}

// One over the diagonal: what the Jacobi preconditioner multiplies by.
inline std::vector<double> inverse_diagonal(const Matrix<double> &a) {
  std::vector<double> inverse(static_cast<std::size_t>(a.n), 1);
  for (std::int64_t i = 0; i < a.n; ++i)
    for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k)
      if (a.col[k] == i) inverse[i] = 1 / a.values[k];
  return inverse;
}

template <class T>
std::vector<T> noise_vector(std::int64_t n, std::uint64_t salt = 0) {
  std::vector<T> v(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < v.size(); ++i) {
    if constexpr (sextant::plugin::is_complex<T>)
      v[i] = T(static_cast<float>(noise(i, salt)), static_cast<float>(noise(i, salt + 77)));
    else
      v[i] = static_cast<T>(noise(i, salt));
  }
  return v;
}

template <class T>
double norm(const std::vector<T> &v) {
  double sum = 0;
  for (const T &value : v) sum += static_cast<double>(std::norm(value));
  return std::sqrt(sum);
}

// || b - A x ||
template <class T>
double true_residual(const Matrix<T> &a, const std::vector<T> &b, const std::vector<T> &x) {
  std::vector<T> r(b.size());
  a.multiply(x.data(), r.data());
  for (std::size_t i = 0; i < r.size(); ++i) r[i] = b[i] - r[i];
  return norm(r);
}

}  // namespace pcg_test
