// SPDX-License-Identifier: BSD-3-Clause
// Plain loops, compiled with the options of the rest of the command.
#include "bench/textbook.hpp"

#include <cmath>
#include <cstdint>

#include "sextant/plugin/kinds/reduction.h"
#include "sextant/plugin/kinds/vector.h"

namespace tool::textbook {
namespace {

template <typename Offset, typename Index>
void spmv_typed(const Csr &a, const double *x, double *y) {
  const auto *row_ptr = static_cast<const Offset *>(a.row_ptr);
  const auto *col = static_cast<const Index *>(a.col);
  for (std::int64_t i = 0; i < a.rows; ++i) {
    double sum = 0;
    for (Offset k = row_ptr[i]; k < row_ptr[i + 1]; ++k) sum += a.values[k] * x[col[k]];
    y[i] = sum;
  }
}

template <typename Offset, typename Index>
void inverse_diagonal(const Csr &a, double *inverse) {
  const auto *row_ptr = static_cast<const Offset *>(a.row_ptr);
  const auto *col = static_cast<const Index *>(a.col);
  for (std::int64_t i = 0; i < a.rows; ++i) {
    inverse[i] = 1;
    for (Offset k = row_ptr[i]; k < row_ptr[i + 1]; ++k) {
      if (col[k] == i) inverse[i] = 1 / a.values[k];
    }
  }
}

// Calls f with two zeros whose types are those of the offsets and of the columns.
template <typename F>
void dispatch(const Csr &a, F f) {
  const bool wide_offsets = a.offset_type == SXT_I64, wide_columns = a.index_type == SXT_I64;
  if (wide_columns) {
    wide_offsets ? f(std::int64_t{}, std::int64_t{}) : f(std::int32_t{}, std::int64_t{});
  } else {
    wide_offsets ? f(std::int64_t{}, std::int32_t{}) : f(std::int32_t{}, std::int32_t{});
  }
}

double dot(std::int64_t n, const double *x, const double *y) {
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += x[i] * y[i];
  return sum;
}

std::int64_t first_largest(std::int64_t n, const double *x) {
  std::int64_t place = n > 0 ? 0 : -1;
  for (std::int64_t i = 1; i < n; ++i) {
    if (std::abs(x[i]) > std::abs(x[place])) place = i;
  }
  return place;
}

}  // namespace

void spmv(const Csr &a, const double *x, double *y) {
  dispatch(a, [&](auto offset, auto index) { spmv_typed<decltype(offset), decltype(index)>(a, x, y); });
}

void vector(std::int32_t operation, const VectorOperands &v) {
  const std::int64_t n = v.n;
  switch (operation) {
    case SXT_VECTOR_COPY:
      for (std::int64_t i = 0; i < n; ++i) v.y[i] = v.x[i];
      break;
    case SXT_VECTOR_FILL:
      for (std::int64_t i = 0; i < n; ++i) v.y[i] = v.alpha;
      break;
    case SXT_VECTOR_SCALE:
      for (std::int64_t i = 0; i < n; ++i) v.y[i] *= v.alpha;
      break;
    case SXT_VECTOR_AXPY:
      for (std::int64_t i = 0; i < n; ++i) v.y[i] += v.alpha * v.x[i];
      break;
    case SXT_VECTOR_AXPBY:
      for (std::int64_t i = 0; i < n; ++i) v.y[i] = v.alpha * v.x[i] + v.beta * v.y[i];
      break;
    case SXT_VECTOR_WAXPBY:
      for (std::int64_t i = 0; i < n; ++i) v.z[i] = v.alpha * v.x[i] + v.beta * v.y[i];
      break;
    case SXT_VECTOR_MULTIPLY:
      for (std::int64_t i = 0; i < n; ++i) v.z[i] = v.x[i] * v.y[i];
      break;
    case SXT_VECTOR_GATHER:
      for (std::int64_t i = 0; i < n; ++i) v.y[i] = v.x[v.index[i]];
      break;
    case SXT_VECTOR_SCATTER:
      for (std::int64_t i = 0; i < n; ++i) v.y[v.index[i]] = v.x[i];
      break;
    // For real values the same as MULTIPLY, and its inverse.
    case SXT_VECTOR_REAL_MULTIPLY:
      for (std::int64_t i = 0; i < n; ++i) v.z[i] = v.x[i] * v.y[i];
      break;
    case SXT_VECTOR_REAL_DIVIDE:
      for (std::int64_t i = 0; i < n; ++i) v.z[i] = v.y[i] / v.x[i];
      break;
    default: break;
  }
}

double reduce(std::int32_t operation, std::int64_t n, const double *x, const double *y) {
  double result = 0;
  switch (operation) {
    case SXT_REDUCTION_SUM:
      for (std::int64_t i = 0; i < n; ++i) result += x[i];
      break;
    case SXT_REDUCTION_DOT:
    case SXT_REDUCTION_DOTC: result = dot(n, x, y); break;
    case SXT_REDUCTION_NRM2: result = std::sqrt(dot(n, x, x)); break;
    case SXT_REDUCTION_ASUM:
      for (std::int64_t i = 0; i < n; ++i) result += std::abs(x[i]);
      break;
    case SXT_REDUCTION_AMAX:
      for (std::int64_t i = 0; i < n; ++i) result = std::fmax(result, std::abs(x[i]));
      break;
    case SXT_REDUCTION_IAMAX: result = static_cast<double>(first_largest(n, x)); break;
    case SXT_REDUCTION_MIN:
    case SXT_REDUCTION_MAX:
      result = x[0];
      for (std::int64_t i = 1; i < n; ++i)
        result = operation == SXT_REDUCTION_MIN ? std::fmin(result, x[i]) : std::fmax(result, x[i]);
      break;
    default: break;
  }
  return result;
}

std::int64_t pcg(const Csr &a, const double *b, double *x, double rtol, std::int64_t max_iterations, double *work) {
  const std::int64_t n = a.rows;
  double *r = work, *z = work + n, *p = work + 2 * n, *q = work + 3 * n, *inverse = work + 4 * n;
  dispatch(a, [&](auto offset, auto index) { inverse_diagonal<decltype(offset), decltype(index)>(a, inverse); });
  for (std::int64_t i = 0; i < n; ++i) {
    x[i] = 0;
    r[i] = b[i];
    p[i] = z[i] = inverse[i] * r[i];
  }
  const double target = rtol * std::sqrt(dot(n, b, b));
  double rz = dot(n, r, z);
  for (std::int64_t iteration = 0; iteration < max_iterations; ++iteration) {
    if (std::sqrt(dot(n, r, r)) <= target) return iteration;
    spmv(a, p, q);
    const double alpha = rz / dot(n, p, q);
    for (std::int64_t i = 0; i < n; ++i) x[i] += alpha * p[i];
    for (std::int64_t i = 0; i < n; ++i) r[i] -= alpha * q[i];
    for (std::int64_t i = 0; i < n; ++i) z[i] = inverse[i] * r[i];
    const double next = dot(n, r, z);
    const double beta = next / rz;
    rz = next;
    for (std::int64_t i = 0; i < n; ++i) p[i] = z[i] + beta * p[i];
  }
  return max_iterations;
}

}  // namespace tool::textbook
