// SPDX-License-Identifier: BSD-3-Clause
// What the tests of the C++ interface solve, and how they look at failures.
#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "sextant/sextant.hpp"

namespace problem {

inline sextant::Context cpu(sextant::ContextOptions options = {}) {
  options.device = "cpu";
  options.threads = 1;
  return sextant::Context(options);
}

// The second difference on n points as CSR: 2 on the diagonal, -1 beside it.
template <class T, class I = std::int32_t>
struct Differences {
  explicit Differences(I n) : n(n), row_ptr{0} {
    for (I i = 0; i < n; ++i) {
      for (I j = std::max<I>(0, i - 1); j < std::min<I>(n, i + 2); ++j) {
        row.push_back(i);
        col.push_back(j);
        values.push_back(i == j ? T(2) : T(-1));
      }
      row_ptr.push_back(static_cast<I>(col.size()));
    }
  }
  sextant::Matrix matrix(const sextant::Context &context, const sextant::MatrixOptions &options = {}) const {
    return sextant::Matrix::from_csr(context, n, n, row_ptr, col, values, options);
  }
  // A times the numbers 1, 2, 3, ...: 0 but for the last.
  std::vector<T> times_numbers() const {
    std::vector<T> b(static_cast<std::size_t>(n), T(0));
    b.back() = T(n + 1);
    return b;
  }

  I n;
  std::vector<I> row, row_ptr, col;
  std::vector<T> values;
};

template <class T>
std::vector<T> numbers(std::int64_t n) {
  std::vector<T> x(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = T(static_cast<float>(i + 1));
  return x;
}

template <class A, class B>
double distance(const A &a, const B &b) {
  double most = a.size() == b.size() ? 0 : 1e300;
  for (std::size_t i = 0; most < 1e300 && i < a.size(); ++i) most = std::max(most, double(std::abs(a[i] - b[i])));
  return most;
}

// The error that a call throws: its status and its sentence.
template <class Call>
sextant::error error_of(Call call) {
  try {
    call();
  } catch (const sextant::error &error) {
    return error;
  }
  return sextant::error(SXT_OK, "no error was thrown");
}

}  // namespace problem
