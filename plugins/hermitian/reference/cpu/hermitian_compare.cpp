// SPDX-License-Identifier: BSD-3-Clause
// Whether a set was factored and solved: by backward error, system by system, and by memory that must not have been
// touched.
#include "hermitian_compare.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>

namespace sextant::hermitian_reference {
namespace {

using plugin::factors;
using plugin::solves;

// The full Hermitian matrix whose triangle is in `from`; the diagonal without imaginary part.
std::vector<Wide> full_matrix(const Case &c, const Array &from, std::int64_t s) {
  const std::int64_t n = c.orders[s], lda = c.lda[s];
  std::vector<Wide> a(static_cast<std::size_t>(n * n));
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = j; i < n; ++i) {
      const bool lower = c.shape.triangle == SXT_LOWER;
      const Wide held = from.at(c.a_at[s] + (lower ? i + j * lda : j + i * lda));
      const Wide below = i == j ? Wide(held.real()) : lower ? held : std::conj(held);
      a[i + j * n] = below;
      a[j + i * n] = std::conj(below);
    }
  return a;
}

double largest(const std::vector<Wide> &values) {
  double most = 0;
  for (const Wide &value : values) most = std::max(most, magnitude(value));
  return most;
}

// L L^H of the triangle, or L S L^H with the signs of its diagonal.
std::vector<Wide> product_of_cholesky(const Case &c, std::int64_t s) {
  const std::int64_t n = c.orders[s];
  std::vector<Wide> l = full_matrix(c, c.a, s), a(l.size());
  for (std::int64_t k = 0; k < n; ++k) {
    const double sign = c.shape.definiteness == SXT_HERMITIAN_SIGNED && l[k + k * n].real() < 0 ? -1 : 1;
    for (std::int64_t j = k; j < n; ++j)
      for (std::int64_t i = k; i < n; ++i) a[i + j * n] += sign * l[i + k * n] * std::conj(l[j + k * n]);
  }
  return a;
}

// A full matrix addressed from its first or from its last row and column.
struct View {
  std::vector<Wide> &a;
  std::int64_t n;
  bool reversed;
  std::int64_t row(std::int64_t i) const { return reversed ? n - 1 - i : i; }
  Wide &at(std::int64_t i, std::int64_t j) const { return a[row(i) + row(j) * n]; }
};

// m := P L m L^H P^T for the block of columns first .. last, whose multipliers are in f.
void apply_block(const View &m, const View &f, std::int64_t first, std::int64_t last, std::int64_t pivot) {
  for (std::int64_t k = first; k <= last; ++k)
    for (std::int64_t j = first; j < m.n; ++j)
      for (std::int64_t i = last + 1; i < m.n; ++i) m.at(i, j) += f.at(i, k) * m.at(k, j);
  for (std::int64_t k = first; k <= last; ++k)
    for (std::int64_t j = last + 1; j < m.n; ++j)
      for (std::int64_t i = first; i < m.n; ++i) m.at(i, j) += m.at(i, k) * std::conj(f.at(j, k));
  for (std::int64_t i = 0; i < m.n; ++i) std::swap(m.at(last, i), m.at(pivot, i));
  for (std::int64_t i = 0; i < m.n; ++i) std::swap(m.at(i, last), m.at(i, pivot));
}

// P L D L^H P^T, multiplied out block by block from the last; false when the pivots make no sense.
bool product_of_bunch_kaufman(const Case &c, std::int64_t s, std::vector<Wide> &a) {
  const std::int64_t n = c.orders[s];
  std::vector<Wide> held = full_matrix(c, c.a, s);
  a.assign(held.size(), Wide(0));
  const bool upper = c.shape.triangle == SXT_UPPER;
  // Reversed, the upper triangle is the lower one of the matrix with rows and columns in reverse, not its conjugate.
  const View m{a, n, upper}, f{held, n, upper};
  const std::int32_t *pivots = c.pivots.data() + s * c.args.stride_pivots;
  for (std::int64_t last = n - 1; last >= 0;) {
    const std::int32_t stated = pivots[m.row(last)];
    const std::int64_t first = stated < 0 ? last - 1 : last, pivot = m.row(std::abs(stated) - 1);
    if (stated == 0 || std::abs(stated) > n || first < 0 || pivot < last) return false;
    m.at(last, last) = f.at(last, last);
    if (first < last) {
      m.at(first, first) = f.at(first, first);
      m.at(last, first) = f.at(last, first);
      m.at(first, last) = std::conj(f.at(last, first));
    }
    apply_block(m, f, first, last, pivot);
    last = first - 1;
  }
  return true;
}

void check_factor(const Case &c, std::int64_t s, Verdict &verdict) {
  const std::int64_t n = c.orders[s];
  const std::vector<Wide> want = full_matrix(c, c.matrix, s);
  std::vector<Wide> got;
  if (c.shape.definiteness != SXT_HERMITIAN_INDEFINITE)
    got = product_of_cholesky(c, s);
  else if (!product_of_bunch_kaufman(c, s, got))
    return verdict.fail("invalid pivots: 0, beyond the order, or pointing backwards");
  // Bunch and Kaufman bound the growth of elements; in practice it stays near one.
  const double growth = c.shape.definiteness == SXT_HERMITIAN_DEFINITE ? 4 : 16;
  const double bound = growth * (static_cast<double>(n) + 8) * epsilon(c.type) * largest(want);
  for (std::size_t i = 0; i < want.size(); ++i)
    verdict.check("product of the factors", static_cast<std::int64_t>(i), got[i], want[i], bound);
}

// |b - A x| against n eps (|A| |x| + |b|), in the largest norm, for every right-hand side.
void check_solution(const Case &c, std::int64_t s, Verdict &verdict) {
  const std::int64_t n = c.orders[s];
  const std::vector<Wide> a = full_matrix(c, c.matrix, s);
  const double growth = c.shape.definiteness == SXT_HERMITIAN_DEFINITE ? 4 : 32;
  for (std::int64_t r = 0; r < c.shape.n_rhs; ++r) {
    const std::int64_t at = c.b_at[s] + r * c.ldb[s];
    std::vector<Wide> ax(n), b(n), x(n);
    double row_sum = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      x[i] = c.b.at(at + i);
      b[i] = c.b_before.at(at + i);
    }
    for (std::int64_t i = 0; i < n; ++i) {
      double sum = 0;
      for (std::int64_t j = 0; j < n; ++j) ax[i] += a[i + j * n] * x[j], sum += magnitude(a[i + j * n]);
      row_sum = std::max(row_sum, sum);
    }
    const double scale = row_sum * largest(x) + largest(b);
    const double bound = growth * (static_cast<double>(n) + 8) * epsilon(c.type) * scale + tiny(c.type);
    for (std::int64_t i = 0; i < n; ++i) verdict.check("A x", i, ax[i], b[i], bound);
  }
}

// Whether an element is unchanged, NaNs too.
bool differs(const Array &now, const Array &before, std::int64_t at) {
  return distance(now.at(at), before.at(at), 0) > 0;
}

// Everything except the triangle, or all of a system that was left alone, must be unchanged.
void check_untouched(const Case &c, std::int64_t s, Verdict &verdict) {
  const std::int64_t n = c.orders[s], end = s + 1 < c.shape.batch ? c.a_at[s + 1] : c.a.size();
  const bool left_alone = !c.is_active(s) || !factors(c.shape.phase);
  for (std::int64_t at = c.a_at[s]; at < end; ++at) {
    const std::int64_t i = (at - c.a_at[s]) % c.lda[s], j = (at - c.a_at[s]) / c.lda[s];
    const bool inside = i < n && j < n, triangle = inside && (c.shape.triangle == SXT_LOWER ? i >= j : i <= j);
    if (triangle && !left_alone) continue;
    if (inside && !triangle && c.shape.may_spoil && c.is_active(s)) continue;
    if (differs(c.a, c.a_before, at)) return verdict.fail("a was written where it must not be");
  }
  if (!solves(c.shape.phase)) return;
  const std::int64_t b_end = s + 1 < c.shape.batch ? c.b_at[s + 1] : c.b.size();
  for (std::int64_t at = c.b_at[s]; at < b_end; ++at) {
    const std::int64_t i = (at - c.b_at[s]) % c.ldb[s], r = (at - c.b_at[s]) / c.ldb[s];
    if (i < n && r < c.shape.n_rhs && c.is_active(s)) continue;
    if (differs(c.b, c.b_before, at)) return verdict.fail("b was written where it must not be");
  }
}

}  // namespace

sxt_status compare(const sxt_case *got_case, const sxt_case *want_case, double *error, sxt_message *message) {
  return plugin::guard(nullptr, [&] {
    const Case &got = *static_cast<const Case *>(got_case->owner), &want = *static_cast<const Case *>(want_case->owner);
    Verdict verdict(error, message);
    for (std::int64_t s = 0; s < got.shape.batch; ++s) {
      verdict.check("info", s, static_cast<double>(got.info[s]), static_cast<double>(want.info[s]), 0);
      check_untouched(got, s, verdict);
      if (got.info[s] != 0 || want.info[s] != 0 || !got.is_active(s)) continue;
      const bool solution_alone = got.shape.solution_only && solves(got.shape.phase);
      if (factors(got.shape.phase) && !solution_alone) check_factor(got, s, verdict);
      if (solves(got.shape.phase)) check_solution(got, s, verdict);
    }
    if (!got.a.guard_intact() || !got.b.guard_intact()) verdict.fail("the kernel wrote beyond the end of a or b");
    return SXT_OK;
  });
}

}  // namespace sextant::hermitian_reference
