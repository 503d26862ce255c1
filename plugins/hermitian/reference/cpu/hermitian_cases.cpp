// SPDX-License-Identifier: BSD-3-Clause
// How conformance cases are made.
#include "hermitian_cases.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>

#include "hermitian_reference.hpp"

namespace sextant::hermitian_reference {
namespace {

using plugin::factors;
using plugin::solves;
using plugin::value_bytes;
using plugin::value_name;

// A := (I - 2 v v^H) A (I - 2 v v^H) for a random unit vector v.
void reflect(std::vector<Wide> &a, std::int64_t n, bool complex, Random &random) {
  std::vector<Wide> v(n), w(n);
  double length = 0;
  for (Wide &value : v) {
    value = {random.symmetric(), complex ? random.symmetric() : 0};
    length += std::norm(value);
  }
  for (Wide &value : v) value /= std::sqrt(length);
  Wide vav = 0;  // w = A v, and v^H A v
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n; ++i) w[i] += a[i + j * n] * v[j];
  for (std::int64_t i = 0; i < n; ++i) vav += std::conj(v[i]) * w[i];
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n; ++i)
      a[i + j * n] += 4.0 * vav * v[i] * std::conj(v[j]) - 2.0 * (v[i] * std::conj(w[j]) + w[i] * std::conj(v[j]));
}

// A matrix of norm 3 to 5 whose leading blocks are all as well conditioned as it is: signs at random on the diagonal,
// far above the rest. It needs no pivoting.
void make_diagonal_strong(std::vector<Wide> &a, std::int64_t n, Random &random) {
  for (std::int64_t i = 0; i < n; ++i) a[i + i * n] += random.symmetric() < 0 ? -4.0 : 4.0;
}

// The flaw of some systems of a flawed set: every third from the second on.
void spoil(std::vector<Wide> &a, std::int64_t n, std::int64_t s, Flaw flaw) {
  if (n == 0) return;
  if (flaw == Flaw::zero) std::fill(a.begin(), a.end(), Wide(0));
  if (flaw == Flaw::zero_diagonal)
    for (std::int64_t i = 0; i < n; ++i) a[i + i * n] = 0;
  if (s % 3 != 1) return;
  const std::int64_t at = (2 * s) % n;
  if (flaw == Flaw::some_not_definite) a[at + at * n] = -1;
  if (flaw == Flaw::some_not_finite) a[n - 1] = a[(n - 1) * n] = std::nan("");
}

// The triangle of a full matrix into the set; a complex diagonal gets an imaginary part that must not be read.
void store(Case &c, std::int64_t s, const std::vector<Wide> &full, Random &random) {
  const std::int64_t n = c.orders[s], lda = c.lda[s];
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n; ++i) {
      const bool mine = c.shape.triangle == SXT_LOWER ? i >= j : i <= j;
      if (!mine) continue;
      const Wide value = i == j ? Wide(full[i + j * n].real(), random.symmetric()) : full[i + j * n];
      c.a.set(c.a_at[s] + i + j * lda, value);
    }
}

void set_sizes(const Shape &shape, Case &c) {
  std::int64_t a_size = 0, b_size = 0;
  for (std::int64_t s = 0; s < shape.batch; ++s) {
    const std::int64_t n = shape.vary ? (s * 7 + 3) % (shape.n + 1) : shape.n;
    c.orders.push_back(static_cast<std::int32_t>(n));
    c.lda.push_back(std::max<std::int64_t>(1, n + shape.padding + (shape.vary ? s % 2 : 0)));
    c.ldb.push_back(std::max<std::int64_t>(1, n + shape.padding));
    if (shape.vary && !shape.pointers) c.lda.back() = c.ldb.back() = shape.n + shape.padding;
    c.a_at.push_back(a_size);
    c.b_at.push_back(b_size);
    a_size += c.lda.back() * (shape.vary && !shape.pointers ? shape.n : n) + shape.padding;
    b_size += c.ldb.back() * shape.n_rhs + shape.padding;
    c.active.push_back(!(shape.mask && s % 4 == 2));
  }
  if (!shape.mask) c.active.clear();
  c.a = Array(c.type, a_size);
  c.b = Array(c.type, solves(shape.phase) ? b_size : 0);
  c.orders_device = c.orders;
}

void set_query(Case &c) {
  const Shape &shape = c.shape;
  sxt_hermitian_query &q = c.query;
  q.q = {{sizeof q, SXT_KIND_HERMITIAN}, 1, 0, c.type};
  q.batch = shape.batch;
  q.n_rhs = shape.n_rhs;
  q.n_min = shape.n;
  for (const std::int32_t order : c.orders) {
    const double n = order;
    q.sum_n1 += n, q.sum_n2 += n * n, q.sum_n3 += n * n * n;
    q.n_max = std::max<std::int64_t>(q.n_max, order);
    q.n_min = std::min<std::int64_t>(q.n_min, order);
  }
  if (!shape.vary) q.n_max = shape.n;
  q.phase = shape.phase;
  q.definiteness = shape.definiteness;
  q.pointer_array = shape.pointers;
  q.orders_vary = shape.vary;
  q.leading_vary = shape.vary && shape.pointers;
  q.triangle = shape.triangle;
  q.may_spoil = shape.may_spoil;
  q.solution_only = shape.solution_only;
}

void set_args(Case &c) {
  const Shape &shape = c.shape;
  sxt_hermitian_args &a = c.args;
  a.h = plugin::head<sxt_hermitian_args>(SXT_KIND_HERMITIAN);
  a.phase = shape.phase;
  a.definiteness = shape.definiteness;
  a.value_type = c.type;
  a.triangle = shape.triangle;
  a.batch = shape.batch;
  a.n_max = c.query.n_max;
  a.n_rhs = shape.n_rhs;
  if (shape.vary) a.orders = c.orders.data();
  a.lda = c.lda.empty() ? 1 : c.lda[0];
  a.ldb = c.ldb.empty() ? 1 : c.ldb[0];
  if (shape.batch > 1 && !shape.pointers) {
    a.stride_a = c.a_at[1];
    a.stride_b = c.b_at[1];
  }
  if (shape.definiteness == SXT_HERMITIAN_INDEFINITE) {
    a.stride_pivots = a.n_max + 1;
    c.pivots.assign(static_cast<std::size_t>(a.stride_pivots * shape.batch), 0);
  }
  c.info.assign(static_cast<std::size_t>(shape.batch), factors(shape.phase) ? 77 : 0);
  c.set_pointers();
}

std::string describe(const Case &c) {
  const Shape &s = c.shape;
  char text[240];
  std::snprintf(text, sizeof text,
                "%s %lld %s systems of %s, order %s%lld, %s triangle%s, %s%s%s, %lld right-hand sides",
                s.phase == SXT_HERMITIAN_FACTOR  ? "factor"
                : s.phase == SXT_HERMITIAN_SOLVE ? "solve"
                                                 : "factor and solve",
                (long long)s.batch,
                s.definiteness == SXT_HERMITIAN_DEFINITE ? "definite"
                : s.definiteness == SXT_HERMITIAN_SIGNED ? "signed"
                                                         : "indefinite",
                value_name(c.type), s.vary ? "0 to " : "", (long long)s.n, s.triangle == SXT_LOWER ? "lower" : "upper",
                s.may_spoil ? " (the other may be overwritten)" : "", s.pointers ? "behind pointers" : "strided",
                s.mask ? ", some switched off" : "", s.flaw == Flaw::none ? "" : ", some flawed", (long long)s.n_rhs);
  return text;
}

}  // namespace

std::vector<Wide> with_eigenvalues(std::int64_t n, double digits, bool indefinite, bool complex, Random &random) {
  std::vector<Wide> a(static_cast<std::size_t>(n * n));
  for (std::int64_t i = 0; i < n; ++i) {
    const double size = std::pow(10.0, n > 1 ? -digits * static_cast<double>(i) / static_cast<double>(n - 1) : 0.0);
    a[i + i * n] = indefinite && i % 3 == 1 ? -size : size;
  }
  for (int times = 0; times < 3 && n > 1; ++times) reflect(a, n, complex, random);
  for (std::int64_t j = 0; j < n; ++j)  // exactly Hermitian in spite of rounding
    for (std::int64_t i = 0; i < j; ++i) a[i + j * n] = std::conj(a[j + i * n]);
  return a;
}

void Case::set_pointers() {
  a_pointers.clear();
  b_pointers.clear();
  const auto bytes = static_cast<std::int64_t>(value_bytes(type));
  for (std::int64_t s = 0; s < shape.batch; ++s) {
    a_pointers.push_back(static_cast<char *>(a.data()) + a_at[s] * bytes);
    b_pointers.push_back(static_cast<char *>(b.data()) + b_at[s] * bytes);
  }
  const bool rhs = solves(shape.phase);
  args.a = shape.pointers ? nullptr : a.data();
  args.a_array = shape.pointers ? a_pointers.data() : nullptr;
  args.b = rhs && !shape.pointers ? b.data() : nullptr;
  args.b_array = rhs && shape.pointers ? b_pointers.data() : nullptr;
  args.orders_device = shape.vary ? orders_device.data() : nullptr;
  args.lda_each = query.leading_vary ? lda.data() : nullptr;
  args.ldb_each = query.leading_vary && rhs ? ldb.data() : nullptr;
  args.active = active.empty() ? nullptr : active.data();
  args.info = info.data();
  args.pivots = pivots.empty() ? nullptr : pivots.data();
}

void factor_case(Case &c) {
  sxt_hermitian_args args = c.args;
  args.phase = SXT_HERMITIAN_FACTOR;
  for (std::int64_t s = 0; s < c.shape.batch; ++s) c.info[s] = factor(args, s);
}

void make(const Shape &shape, sxt_value_type type, Random &random, Case &c) {
  c.shape = shape;
  c.type = type;
  set_sizes(shape, c);
  const bool single = real_type(type) == SXT_F32, indefinite = shape.definiteness != SXT_HERMITIAN_DEFINITE;
  for (std::int64_t s = 0; s < shape.batch; ++s) {
    const std::int64_t n = c.orders[s];
    std::vector<Wide> full =
        with_eigenvalues(n, single ? shape.digits_lost / 3 : shape.digits_lost, indefinite, complex_type(type), random);
    if (shape.definiteness == SXT_HERMITIAN_SIGNED) make_diagonal_strong(full, n, random);
    spoil(full, n, s, shape.flaw);
    store(c, s, full, random);
    for (std::int64_t r = 0; r < shape.n_rhs && solves(shape.phase); ++r)
      for (std::int64_t i = 0; i < n; ++i) c.b.set(c.b_at[s] + i + r * c.ldb[s], c.b.random_value(random));
  }
  c.matrix = c.a;
  set_query(c);
  set_args(c);
  if (shape.phase == SXT_HERMITIAN_SOLVE) factor_case(c);
  c.a_before = c.a;
  c.b_before = c.b;
  c.description = describe(c);
}

}  // namespace sextant::hermitian_reference
