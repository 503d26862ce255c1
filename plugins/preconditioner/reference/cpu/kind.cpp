// SPDX-License-Identifier: BSD-3-Clause
// Kind sxt.preconditioner/1. Members differ by method, so there is no common answer: a case asks for z = M r with A
// Hermitian positive definite and checks what every member promises of M.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "reference.hpp"
#include "sextant/plugin/kinds/preconditioner.h"
#include "sextant/sdk/cases.hpp"
#include "sextant/sdk/kernel.hpp"

namespace preconditioner_reference {
namespace {

namespace plugin = sextant::plugin;
using Number = std::complex<double>;
using Rows = std::vector<std::map<std::int32_t, Number>>;

struct Case {
  std::vector<std::int32_t> row_ptr{0}, col;
  std::vector<char> values, r, z;
  sxt_preconditioner_query query{};
  sxt_csr csr{};
  sxt_preconditioner_args args{};
  plugin::cases::Moved moved;
};

// The same numbers from the same seed on every machine (splitmix64), in [-1, 1).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  double uniform() { return std::ldexp(static_cast<double>(next() >> 11), -52) - 1; }

 private:
  std::uint64_t state_;
};

// The -1 2 -1 matrix, for which every method can be checked by hand.
Rows tridiagonal(std::int32_t n) {
  Rows rows(n);
  for (std::int32_t i = 0; i < n; ++i) {
    rows[i][i] = 2;
    if (i > 0) rows[i][i - 1] = rows[i - 1][i] = -1;
  }
  return rows;
}

// 5-point stencil on m x m points.
Rows five_point(std::int32_t m) {
  Rows rows(m * m);
  for (std::int32_t i = 0; i < m * m; ++i) {
    rows[i][i] = 4;
    if (i % m > 0) rows[i][i - 1] = rows[i - 1][i] = -1;
    if (i >= m) rows[i][i - m] = rows[i - m][i] = -1;
  }
  return rows;
}

// Diagonally dominant with random places and values; rows and columns scaled by up to 10^(+-decades).
Rows dominant(std::int32_t n, bool complex, double decades, Random &random) {
  Rows rows(n);
  for (std::int32_t i = 0; i < n; ++i) {
    const auto j = static_cast<std::int32_t>(random.next() % static_cast<std::uint64_t>(n));
    const double re = random.uniform(), im = complex ? random.uniform() : 0;
    if (j == i) continue;
    rows[i][j] = {re, im};
    rows[j][i] = {re, -im};
  }
  std::vector<double> scale(n);
  for (std::int32_t i = 0; i < n; ++i) {
    double sum = 1;
    for (const auto &[column, value] : rows[i]) sum += std::abs(value);
    rows[i][i] = sum;
    scale[i] = std::pow(10, decades * random.uniform());
  }
  for (std::int32_t i = 0; i < n; ++i)
    for (auto &[column, value] : rows[i]) value *= scale[i] * scale[column];
  return rows;
}

struct Entry {
  const char *description;
  sxt_value_type type;
  Rows (*make)(Random &);
};

const Entry entries[] = {
    {"tridiagonal -1 2 -1, n = 64, f64", SXT_F64, [](Random &) { return tridiagonal(64); }},
    {"tridiagonal -1 2 -1, n = 63, f32", SXT_F32, [](Random &) { return tridiagonal(63); }},
    {"tridiagonal -1 2 -1, n = 65, c64", SXT_C64, [](Random &) { return tridiagonal(65); }},
    {"5-point on 12 x 12, f64", SXT_F64, [](Random &) { return five_point(12); }},
    {"random dominant, n = 300, f64", SXT_F64, [](Random &r) { return dominant(300, false, 0, r); }},
    {"random dominant Hermitian, n = 200, c128", SXT_C128, [](Random &r) { return dominant(200, true, 0, r); }},
    {"random dominant Hermitian, n = 100, c64", SXT_C64, [](Random &r) { return dominant(100, true, 0, r); }},
    {"badly scaled by 1e-8 .. 1e8, n = 150, f64", SXT_F64, [](Random &r) { return dominant(150, false, 4, r); }},
    {"diagonal, n = 33, f64", SXT_F64,
     [](Random &) {
       Rows rows(33);
       for (std::int32_t i = 0; i < 33; ++i) rows[i][i] = i + 0.5;
       return rows;
     }},
    {"n = 1, f64", SXT_F64, [](Random &) { return tridiagonal(1); }},
    {"n = 0, f64", SXT_F64, [](Random &) { return tridiagonal(0); }},
};

template <class T>
T rounded(Number value) {
  if constexpr (plugin::is_complex<T>)
    return static_cast<T>(value);
  else
    return static_cast<T>(value.real());
}

template <class T>
void append(std::vector<char> &to, Number number) {
  const T value = rounded<T>(number);
  const char *bytes = reinterpret_cast<const char *>(&value);
  to.insert(to.end(), bytes, bytes + sizeof value);
}

// The arrays of the case in its value type; r is random.
template <class T>
void store(Case &c, const Rows &rows, Random &random) {
  for (const auto &row : rows) {
    for (const auto &[column, value] : row) {
      c.col.push_back(column);
      append<T>(c.values, value);
    }
    c.row_ptr.push_back(static_cast<std::int32_t>(c.col.size()));
    const double re = random.uniform(), im = random.uniform();
    append<T>(c.r, {re, im});
    append<T>(c.z, std::numeric_limits<double>::quiet_NaN());  // z is written, never read
  }
}

void describe(Case &c, std::int64_t n, sxt_value_type type) {
  const auto nnz = static_cast<std::int64_t>(c.col.size());
  const sxt_symmetry symmetry = type == SXT_C64 || type == SXT_C128 ? SXT_HERMITIAN : SXT_SYMMETRIC;
  c.csr.s = {{sizeof(sxt_csr), SXT_KIND_STORAGE_CSR}, type, SXT_I32, SXT_I32, SXT_SPACE_HOST, symmetry, 0, n, n, nnz};
  c.csr.row_ptr = c.row_ptr.data();
  c.csr.col = c.col.data();
  c.csr.values = c.values.data();
  c.query.m.q = {{sizeof(sxt_preconditioner_query), SXT_KIND_PRECONDITIONER}, 1, SXT_QUERY_MATRIX, type};
  c.query.m.rows = c.query.m.cols = n;
  c.query.m.nnz = nnz;
  c.query.m.matrix_type = type;
  c.query.m.symmetry = symmetry;
  c.args = {plugin::head<sxt_preconditioner_args>(SXT_KIND_PRECONDITIONER), n, c.r.data(), c.z.data()};
}

sxt_status make_case(const sxt_host *, std::uint64_t seed, std::uint64_t i, sxt_case *out) {
  if (i >= std::size(entries)) return SXT_E_ARGUMENT;
  return plugin::guard(nullptr, [&] {
    Random random(seed * 1000 + i);
    const Rows rows = entries[i].make(random);
    auto *c = new Case;
    *out = {sizeof(sxt_case), entries[i].description, &c->query.m.q, &c->csr.s.h, nullptr, &c->args.h, c};
    plugin::with_value_type(entries[i].type, [&]<class T>(plugin::Tag<T>) {
      store<T>(*c, rows, random);
      return static_cast<sxt_status>(SXT_OK);
    });
    describe(*c, static_cast<std::int64_t>(rows.size()), entries[i].type);
    return static_cast<sxt_status>(SXT_OK);
  });
}

sxt_status move_case(sxt_case *moved, const sxt_exec *exec, std::int32_t to_device) {
  return plugin::guard(exec, [&] {
    Case &c = *static_cast<Case *>(moved->owner);
    plugin::cases::Move move(c.moved, exec, to_device);
    move.array(c.r).array(c.z);
    move.point(c.args.r).point(c.args.z);
    return move.finish();
  });
}

// A Hermitian positive definite M gives r'Mr > 0, real up to rounding; M is finite, and M r is not 0 for r != 0.
template <class T>
sxt_status check(const Case &c, double *error, sxt_message *message) {
  const auto *r = reinterpret_cast<const T *>(c.r.data()), *z = reinterpret_cast<const T *>(c.z.data());
  Number sum = 0;
  double magnitude = 0;
  *error = std::numeric_limits<double>::infinity();
  for (std::int64_t i = 0; i < c.args.n; ++i) {
    const auto zi = static_cast<Number>(z[i]), ri = static_cast<Number>(r[i]);
    if (!std::isfinite(zi.real()) || !std::isfinite(zi.imag()))
      return plugin::refuse(message, "z[%lld] is not finite", static_cast<long long>(i)), SXT_OK;
    sum += std::conj(ri) * zi;
    magnitude += std::abs(ri) * std::abs(zi);
  }
  if (c.args.n > 0 && !(sum.real() > 0))
    return plugin::refuse(message, "r'Mr = %.6g, a positive definite M makes it positive", sum.real()), SXT_OK;
  // Rounding of z itself: a few units in the last place of each of its terms.
  const double bound = 1000 * std::numeric_limits<plugin::real_of<T>>::epsilon() * magnitude + 1e-300;
  *error = std::fabs(sum.imag()) / bound;
  if (*error > 1) plugin::refuse(message, "r'Mr = %.6g %+.6g i, a Hermitian M makes it real", sum.real(), sum.imag());
  return SXT_OK;
}

// How far z is from another answer of the same kernel to the same question. The reference, M = identity, is none: its z
// is r.
template <class T>
sxt_status differ(const Case &c, const Case &like, double *error, sxt_message *message) {
  const auto *z = reinterpret_cast<const T *>(c.z.data()), *other = reinterpret_cast<const T *>(like.z.data());
  double apart = 0, size = 0;
  for (std::int64_t i = 0; i < c.args.n; ++i) {
    apart = std::max(apart, static_cast<double>(std::abs(z[i] - other[i])));
    size = std::max(size, static_cast<double>(std::abs(other[i])));
  }
  const double bound = std::sqrt(static_cast<double>(std::numeric_limits<plugin::real_of<T>>::epsilon())) * size;
  if (c.z == like.z || like.z == like.r || !(size < std::numeric_limits<double>::infinity())) return SXT_OK;
  *error = std::max(*error, apart / std::max(bound, 1e-300));
  if (apart > bound) plugin::refuse(message, "z differs by %.6g of %.6g from what M gave before", apart, size);
  return SXT_OK;
}

sxt_status compare(const sxt_case *got, const sxt_case *want, double *error, sxt_message *message) {
  const Case &c = *static_cast<const Case *>(got->owner);
  return plugin::with_value_type(c.query.m.q.value_type, [&]<class T>(plugin::Tag<T>) {
    const sxt_status status = check<T>(c, error, message);
    if (status != SXT_OK || !want || !(*error <= 1)) return status;
    return differ<T>(c, *static_cast<const Case *>(want->owner), error, message);
  });
}

}  // namespace

const sxt_kind &kind() {
  static const sxt_kind table =
      plugin::cases::kind_of_cases<Case>(SXT_KIND_PRECONDITIONER, "z = M r, M close to the inverse of A",
                                         {nullptr, std::size(entries), make_case, compare, move_case});
  return table;
}

}  // namespace preconditioner_reference
