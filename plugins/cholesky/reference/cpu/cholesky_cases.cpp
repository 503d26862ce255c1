// SPDX-License-Identifier: BSD-3-Clause
// How conformance cases are made. Diagonals dominate, so that factors and solutions are well conditioned.
#include "cholesky_cases.hpp"

#include <cmath>
#include <limits>
#include <set>

#include "cholesky_reference.hpp"

namespace sextant_cholesky {
namespace {

// Columns below the diagonal of each row.
std::vector<std::set<std::int64_t>> lower_rows(Look look, std::int64_t n, Random &random) {
  std::vector<std::set<std::int64_t>> row(n);
  const auto put = [&](std::int64_t i, std::int64_t j) {
    if (i != j) row[std::max(i, j)].insert(std::min(i, j));
  };
  const auto side = static_cast<std::int64_t>(std::sqrt(static_cast<double>(n)) + 0.5);
  for (std::int64_t i = 0; i < n; ++i) switch (look) {
      case Look::random:
        for (int k = 0; k < 2; ++k) put(i, random.below(n));
        break;
      case Look::grid:
        if (i % side) put(i, i - 1);
        if (i >= side) put(i, i - side);
        break;
      case Look::arrow: put(i, n / 2); break;
      case Look::dense:
        for (std::int64_t j = 0; j < i; ++j) put(i, j);
        break;
      case Look::chain:
        if (i) put(i, i - 1);
        break;
      case Look::blocks:  // of five, none joined with another
        for (std::int64_t j = i / 5 * 5; j < i; ++j) put(i, j);
        break;
      case Look::diagonal: break;
    }
  return row;
}

// Every second number of the caller's array is one of A; the others must not be read.
LowerPattern pattern_of(const std::vector<std::set<std::int64_t>> &rows) {
  LowerPattern a;
  a.n = static_cast<std::int64_t>(rows.size());
  for (std::int64_t i = 0; i < a.n; ++i) {
    for (const std::int64_t j : rows[i]) a.col.push_back(static_cast<std::int32_t>(j));
    a.col.push_back(static_cast<std::int32_t>(i));
    a.row_ptr.push_back(static_cast<std::int64_t>(a.col.size()));
  }
  for (std::size_t k = 0; k < a.col.size(); ++k) a.from.push_back(static_cast<std::int64_t>(2 * k + 1));
  return a;
}

// Both triangles.
Pattern whole(const LowerPattern &a) {
  Pattern all{a.n, a.n, std::vector<std::vector<std::int64_t>>(a.n)};
  for (std::int64_t i = 0; i < a.n; ++i)
    for (std::int64_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
      all.row[i].push_back(a.col[k]);
      if (a.col[k] != i) all.row[a.col[k]].push_back(i);
    }
  for (auto &row : all.row) std::sort(row.begin(), row.end());
  return all;
}

void make_values(Case &c, std::int64_t set, Random &random) {
  const LowerPattern &a = c.pattern;
  const std::int64_t base = set * c.args.stride_values;
  std::vector<double> sum(a.n, 1.0);
  for (std::int64_t i = 0; i < a.n; ++i)
    for (std::int64_t k = a.row_ptr[i]; k + 1 < a.row_ptr[i + 1]; ++k) {
      const Wide value = c.values.random_value(random);
      c.values.set(base + a.from[k], value);
      sum[i] += std::abs(value), sum[a.col[k]] += std::abs(value);
    }
  for (std::int64_t i = 0; i < a.n; ++i) {
    const bool negative = c.shape.factors == SXT_FACTORS_LDLH && random.symmetric() < 0;
    c.values.set(base + a.from[a.row_ptr[i + 1] - 1], negative ? -sum[i] : sum[i]);
  }
}

void add_flaw(Case &c, Random &random) {
  const LowerPattern &a = c.pattern;
  const std::int64_t factored = a.n - c.shape.n_schur;
  const std::int64_t column = c.structure->view().perm[random.below(factored)];
  const auto diagonal = [&](std::int64_t i) { return a.from[a.row_ptr[i + 1] - 1]; };
  if (c.shape.flaw == Flaw::not_finite) {
    const std::int64_t k = random.below(static_cast<std::int64_t>(a.from.size()));
    return c.values.set(a.from[k], std::numeric_limits<double>::quiet_NaN());
  }
  if (c.shape.flaw == Flaw::not_definite)  // in several columns, of which the first is to be named
    for (int times = 0; times < 3; ++times)
      c.values.set(diagonal(c.structure->view().perm[random.below(factored)]), -0.5);
  if (c.shape.flaw != Flaw::small_pivot) return;
  for (std::int64_t i = 0; i < a.n; ++i)  // a column on its own
    for (std::int64_t k = a.row_ptr[i]; k + 1 < a.row_ptr[i + 1]; ++k)
      if (i == column || a.col[k] == column) c.values.set(a.from[k], 0);
  c.values.set(diagonal(column), -1e-6);
}

// What stands above the diagonals of the blocks means nothing.
void poison_above(Case &c) {
  const sxt_symbolic &s = c.structure->view();
  for (std::int64_t set = 0; set < c.shape.n_sets; ++set)
    for (std::int64_t p = 0; p < s.n_super; ++p)
      for (std::int64_t j = 0; j < s.super_ptr[p + 1] - s.super_ptr[p]; ++j) {
        const std::int64_t at = set * c.args.stride_factor + s.value_ptr[p] + j * (s.row_ptr[p + 1] - s.row_ptr[p]);
        c.factor.poison(at, at + j);
      }
}

void make_args(Case &c, Random &random) {
  const sxt_symbolic &s = c.structure->view();
  const Shape &shape = c.shape;
  sxt_cholesky_args &args = c.args;
  args.h = head<sxt_cholesky_args>(SXT_KIND_CHOLESKY);
  args.factors = shape.factors;
  args.value_type = c.type, args.value_type_a = c.type_a;
  args.pivot_policy = shape.policy;
  args.pivot_tolerance = shape.flaw == Flaw::small_pivot ? 1e-3 : 0;
  args.pivot_value = 0.5;
  args.n_sets = shape.n_sets;
  args.stride_values = 2 * s.n_entries + 3, args.stride_factor = s.values + 5, args.stride_inverse = s.values + 2;
  c.values = Array(c.type_a, shape.n_sets * args.stride_values, random);
  c.values.poison(0, c.values.size());
  c.factor = Array(c.type, shape.n_sets * args.stride_factor, random);
  c.failed_column.assign(shape.n_sets, -7), c.changed.assign(shape.n_sets, -7);
  c.failed_pivot.assign(shape.n_sets, 0), c.pivots.assign(2 * shape.n_sets, -7);
  for (std::int64_t set = 0; set < shape.n_sets; ++set) make_values(c, set, random);
  if (shape.flaw != Flaw::none) add_flaw(c, random);
  args.values = c.values.data(), args.factor = c.factor.data();
  args.failed_column = c.failed_column.data(), args.failed_pivot = c.failed_pivot.data();
  args.changed = c.changed.data(), args.pivots = c.pivots.data(), args.pivots_capacity = 2;
  if (shape.phase != SXT_CHOLESKY_FACTOR) {
    args.phase = SXT_CHOLESKY_FACTOR;
    run_reference(s, args);
    poison_above(c);
  }
  args.phase = shape.phase;
  args.n_rhs = shape.n_rhs, args.ldb = s.n + 2, args.stride_b = shape.n_rhs * args.ldb + 1;
  if (shape.phase == SXT_CHOLESKY_PIVOTS) {
    args.stride_b = s.n + 1;
    c.b = Array(real_type(c.type), shape.n_sets * args.stride_b, random);
  } else if (shape.phase == SXT_CHOLESKY_INVERSE) {
    c.inverse = Array(c.type, shape.n_sets * args.stride_inverse, random);
  } else if (shape.phase != SXT_CHOLESKY_FACTOR) {
    c.b = Array(c.type, shape.n_sets * args.stride_b, random);
  }
  args.b = c.b.data(), args.inverse = c.inverse.data();
}

}  // namespace

void make(const Shape &shape, sxt_value_type type, Random &random, Case &c) {
  c.shape = shape;
  c.type = type;
  c.type_a = shape.half && type == SXT_F64 ? SXT_F32 : shape.half && type == SXT_C128 ? SXT_C64 : type;
  c.pattern = pattern_of(lower_rows(shape.look, shape.n, random));
  c.matrix = Matrix(whole(c.pattern), c.type_a, random);
  c.matrix.mirror_upper(complex_type(type) ? SXT_HERMITIAN : SXT_SYMMETRIC);
  std::vector<std::int32_t> order(shape.n);
  for (std::int64_t k = 0; k < shape.n; ++k) order[k] = static_cast<std::int32_t>(k);
  for (std::int64_t k = shape.n; k-- > 1;) std::swap(order[k], order[random.below(k + 1)]);
  const StructureOptions options{shape.amalgamation, 16, shape.n_schur};
  c.structure = std::make_unique<Structure>(c.pattern, order, options);
  make_args(c, random);
  const std::int32_t phase = shape.phase == SXT_CHOLESKY_FACTOR || shape.phase == SXT_CHOLESKY_INVERSE ? shape.phase
                             : shape.phase == SXT_CHOLESKY_PIVOTS ? SXT_CHOLESKY_FACTOR
                                                                  : SXT_CHOLESKY_SOLVE;
  c.query = query_of(c.structure->view(), static_cast<std::int64_t>(c.pattern.from.size()), type, phase);
  c.query.m.matrix_type = c.type_a;
  c.query.m.nnz = c.matrix.csr().s.nnz;
  c.query.factors = shape.factors, c.query.n_rhs = shape.n_rhs, c.query.n_sets = shape.n_sets;
}

}  // namespace sextant_cholesky
