// SPDX-License-Identifier: BSD-3-Clause
// Matrices and their factors by one scheduler, for the tests of schedulers.
#pragma once

#include <cmath>
#include <cstring>

#include "plugins/cholesky/test_support.hpp"

namespace plugin_test {

using sextant_cholesky::LowerPattern;
using sextant_cholesky::Structure;
using sextant_cholesky::StructureOptions;

inline void add_row(LowerPattern &a, std::initializer_list<std::int64_t> before) {
  for (const std::int64_t j : before)
    if (j >= 0) a.col.push_back(static_cast<std::int32_t>(j));
  a.col.push_back(static_cast<std::int32_t>(a.n++));
  a.row_ptr.push_back(static_cast<std::int64_t>(a.col.size()));
}
inline void number_entries(LowerPattern &a) {
  for (std::size_t k = 0; k < a.col.size(); ++k) a.from.push_back(static_cast<std::int64_t>(k));
}

// A 7-point stencil on a cube.
inline LowerPattern cube(std::int64_t side) {
  LowerPattern a;
  for (std::int64_t i = 0; i < side * side * side; ++i)
    add_row(a, {i >= side * side ? i - side * side : -1, i / side % side ? i - side : -1, i % side ? i - 1 : -1});
  number_entries(a);
  return a;
}

// Nested dissection of a box by planes.
inline void dissect(const std::int64_t *low, const std::int64_t *high, std::int64_t side,
                    std::vector<std::int32_t> &order) {
  int axis = 0;
  for (int k = 1; k < 3; ++k)
    if (high[k] - low[k] > high[axis] - low[axis]) axis = k;
  std::int64_t first[3] = {low[0], low[1], low[2]}, last[3] = {high[0], high[1], high[2]};
  const std::int64_t middle = (low[axis] + high[axis]) / 2;
  if (high[axis] - low[axis] > 2) {
    last[axis] = middle;
    dissect(first, last, side, order);
    first[axis] = middle + 1, last[axis] = high[axis];
    dissect(first, last, side, order);
    first[axis] = middle, last[axis] = middle + 1;
  }
  for (std::int64_t z = first[2]; z < last[2]; ++z)
    for (std::int64_t y = first[1]; y < last[1]; ++y)
      for (std::int64_t x = first[0]; x < last[0]; ++x)
        order.push_back(static_cast<std::int32_t>((z * side + y) * side + x));
}
inline std::vector<std::int32_t> dissection(std::int64_t side) {
  const std::int64_t low[3] = {0, 0, 0}, high[3] = {side, side, side};
  std::vector<std::int32_t> order;
  dissect(low, high, side, order);
  return order;
}
inline std::vector<std::int32_t> natural(std::int64_t n) {
  std::vector<std::int32_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

// Values of a dominant diagonal, some negative where asked.
inline std::vector<double> values_of(const LowerPattern &a, std::int64_t negative_every = 0) {
  std::vector<double> values(a.col.size()), sum(static_cast<std::size_t>(a.n), 0.1);
  for (std::int64_t i = 0; i < a.n; ++i)
    for (std::int64_t k = a.row_ptr[i]; k + 1 < a.row_ptr[i + 1]; ++k) {
      values[k] = std::sin(static_cast<double>(k) * 0.37 + 1);
      sum[i] += std::abs(values[k]), sum[a.col[k]] += std::abs(values[k]);
    }
  for (std::int64_t i = 0; i < a.n; ++i)
    values[a.row_ptr[i + 1] - 1] = negative_every && i % negative_every == 0 ? -sum[i] : sum[i];
  return values;
}

struct Result {
  sxt_status status = SXT_OK;
  std::int64_t failed = -7, changed = -7;
  double pivot = 0;
  std::vector<double> l, x, z;
};

// One structure with its values, worked on with so many threads.
class Problem {
 public:
  Problem(const sxt_kernel &scheduler, LowerPattern a, std::vector<std::int32_t> order, std::vector<double> given,
          std::int32_t factors = SXT_FACTORS_LLH, std::int64_t amalgamation = 8)
      : kernel(scheduler),
        pattern(std::move(a)),
        values(std::move(given)),
        structure(pattern, std::move(order), StructureOptions{amalgamation, 64, 0}) {
    query =
        sextant_cholesky::query_of(view(), static_cast<std::int64_t>(pattern.col.size()), SXT_F64, SXT_CHOLESKY_FACTOR);
    args.h = {sizeof args, SXT_KIND_CHOLESKY};
    args.value_type = args.value_type_a = SXT_F64;
    args.factors = query.factors = factors;
    args.n_sets = 1;
  }
  const sxt_symbolic &view() const { return structure.view(); }

  Result factor(int threads, const char *large = "dense.reference.cpu", const volatile std::int32_t *cancel = nullptr) {
    Result r;
    Scheduler scheduler(kernel, view(), query, threads, "dense.loops.cpu", large);
    EXPECT_EQ(scheduler.status(), SXT_OK) << Host::sentence;
    factor(scheduler, r, cancel);
    return r;
  }
  void factor(Scheduler &scheduler, Result &r, const volatile std::int32_t *cancel = nullptr) {
    r.l.assign(static_cast<std::size_t>(view().values), -3);
    args.phase = SXT_CHOLESKY_FACTOR;
    args.values = values.data(), args.factor = r.l.data();
    args.failed_column = &r.failed, args.failed_pivot = &r.pivot, args.changed = &r.changed;
    r.status = scheduler.run(args, cancel);
  }
  // In r.x, of which each column is its own.
  void solve(Result &r, std::int64_t columns, int threads) {
    sxt_cholesky_query asked = query;
    asked.phase = SXT_CHOLESKY_SOLVE, asked.n_rhs = columns;
    Scheduler scheduler(kernel, view(), asked, threads);
    r.x = right(columns);
    args.phase = SXT_CHOLESKY_SOLVE, args.factor = r.l.data();
    args.b = r.x.data(), args.ldb = pattern.n, args.n_rhs = columns;
    ASSERT_EQ(scheduler.run(args), SXT_OK) << Host::sentence;
  }
  void invert(Result &r, int threads) {
    sxt_cholesky_query asked = query;
    asked.phase = SXT_CHOLESKY_INVERSE;
    Scheduler scheduler(kernel, view(), asked, threads);
    r.z.assign(r.l.size(), -3);
    args.phase = SXT_CHOLESKY_INVERSE, args.factor = r.l.data(), args.inverse = r.z.data();
    ASSERT_EQ(scheduler.run(args), SXT_OK) << Host::sentence;
  }
  std::vector<double> right(std::int64_t columns) const {
    std::vector<double> b(static_cast<std::size_t>(columns * pattern.n));
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = std::cos(static_cast<double>(i) * 1.3);
    return b;
  }
  // Largest |b - A x| of a column over what rounding of |A| |x| + |b| allows in so many terms.
  double backward_error(const std::vector<double> &x, std::int64_t columns) const {
    const std::vector<double> b = right(columns);
    double worst = 0;
    for (std::int64_t c = 0; c < columns; ++c) {
      std::vector<double> r(b.begin() + c * pattern.n, b.begin() + (c + 1) * pattern.n), size(r.size());
      for (std::size_t i = 0; i < r.size(); ++i) size[i] = std::abs(r[i]);
      for (std::int64_t i = 0; i < pattern.n; ++i)
        for (std::int64_t k = pattern.row_ptr[i]; k < pattern.row_ptr[i + 1]; ++k) {
          const std::int64_t j = pattern.col[k];
          const auto take = [&](std::int64_t row, std::int64_t column) {
            const double product = values[k] * x[c * pattern.n + column];
            r[row] -= product, size[row] += std::abs(product);
          };
          take(i, j);
          if (i != j) take(j, i);
        }
      for (std::size_t i = 0; i < r.size(); ++i) worst = std::max(worst, std::abs(r[i]) / size[i]);
    }
    return worst / (2.2e-16 * 64);
  }
  // Entries on and below the diagonals have equal bits.
  bool same(const std::vector<double> &a, const std::vector<double> &b) const {
    const sxt_symbolic &s = view();
    for (std::int64_t p = 0; p < s.n_super; ++p) {
      const std::int64_t rows = s.row_ptr[p + 1] - s.row_ptr[p];
      for (std::int64_t j = 0; j < s.super_ptr[p + 1] - s.super_ptr[p]; ++j) {
        const std::int64_t at = s.value_ptr[p] + j * rows + j;
        if (std::memcmp(&a[at], &b[at], static_cast<std::size_t>(rows - j) * sizeof(double)) != 0) return false;
      }
    }
    return true;
  }

  const sxt_kernel &kernel;
  LowerPattern pattern;
  std::vector<double> values;
  Structure structure;
  sxt_cholesky_query query{};
  sxt_cholesky_args args{};
};

inline Problem make_cube(const sxt_kernel &kernel, std::int64_t side, std::int32_t factors = SXT_FACTORS_LLH) {
  LowerPattern a = cube(side);
  std::vector<double> values = values_of(a, factors == SXT_FACTORS_LDLH ? 3 : 0);
  return Problem(kernel, std::move(a), dissection(side), std::move(values), factors);
}

}  // namespace plugin_test
