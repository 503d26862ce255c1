// SPDX-License-Identifier: BSD-3-Clause
// For the tests of preconditioners: a prepared kernel, M as a dense matrix, dense references, matrices and tests for
// every member of the kind.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

#include "plugins/pcg/host-loop/cpu/test_support.hpp"
#include "sextant/plugin/kinds/preconditioner.h"

namespace preconditioner_test {

using namespace pcg_test;
namespace plugin = sextant::plugin;

// A prepared kernel for one CSR matrix.
class Prepared {
 public:
  Prepared(const sxt_kernel &kernel, const sxt_csr &a, sxt_value_type vectors, int threads = 1, const char *method = "")
      : kernel_(kernel) {
    query_.m.q = {{sizeof query_, SXT_KIND_PRECONDITIONER}, 1, SXT_QUERY_MATRIX, vectors};
    query_.m.rows = query_.m.cols = a.s.rows;
    query_.m.nnz = a.s.nnz;
    query_.m.matrix_type = a.s.value_type;
    std::strcpy(query_.method, method);
    exec_ = make_exec(threads);
    const sxt_machine machine = make_machine(1);
    std::uint64_t count = 0;
    status = kernel_.candidates(&query_.m.q, nullptr, &machine, nullptr, &candidate_, 1, &count);
    EXPECT_EQ(status, SXT_OK);
    candidate_.launch[0] = threads;
    const sxt_problem problem{sizeof problem, &query_.m.q, &a.s.h, nullptr};
    status = kernel_.prepare(&problem, &candidate_, nullptr, &exec_, &state_);
    scratch_.resize(candidate_.scratch_bytes / 8 + 1);
    exec_.scratch = scratch_.data();
    exec_.scratch_bytes = candidate_.scratch_bytes;
  }
  ~Prepared() {
    if (state_) kernel_.release(state_);
  }
  Prepared(const Prepared &) = delete;
  Prepared &operator=(const Prepared &) = delete;

  sxt_status refresh(const sxt_csr &a) {
    const sxt_problem problem{sizeof problem, &query_.m.q, &a.s.h, nullptr};
    return kernel_.refresh(state_, &problem, &exec_);
  }
  template <class T>
  sxt_status run(const std::vector<T> &r, std::vector<T> &z) {
    z.assign(r.size(), T(std::numeric_limits<plugin::real_of<T>>::quiet_NaN()));  // z is written, never read
    sxt_preconditioner_args args{plugin::head<sxt_preconditioner_args>(SXT_KIND_PRECONDITIONER),
                                 static_cast<std::int64_t>(r.size()), r.data(), z.data()};
    return kernel_.run(state_, nullptr, &args.h, &exec_);
  }
  template <class T>
  std::vector<T> apply(const std::vector<T> &r) {
    std::vector<T> z;
    EXPECT_EQ(run(r, z), SXT_OK) << Host::sentence;
    return z;
  }
  template <class Real>
  std::vector<Real> scaling(std::size_t n) {
    const void *s = nullptr;
    EXPECT_EQ(static_cast<const sxt_preconditioner_ops *>(kernel_.ops)->scaling(state_, &s), SXT_OK);
    return {static_cast<const Real *>(s), static_cast<const Real *>(s) + n};
  }
  sxt_exec &exec() { return exec_; }
  const sxt_candidate &candidate() const { return candidate_; }
  sxt_status status;

 private:
  const sxt_kernel &kernel_;
  sxt_preconditioner_query query_{};
  sxt_candidate candidate_{};
  sxt_exec exec_{};
  std::vector<double> scratch_;
  void *state_ = nullptr;
};

// ---- dense matrices, row-major -----------------------------------------------------------------------------------

template <class T>
struct Dense {
  std::int64_t n;
  std::vector<T> a;
  explicit Dense(std::int64_t rows) : n(rows), a(static_cast<std::size_t>(rows * rows), T(0)) {}
  T &operator()(std::int64_t i, std::int64_t j) { return a[static_cast<std::size_t>(i * n + j)]; }
  const T &operator()(std::int64_t i, std::int64_t j) const { return a[static_cast<std::size_t>(i * n + j)]; }
};

template <class T>
Dense<T> operator*(const Dense<T> &x, const Dense<T> &y) {
  Dense<T> out(x.n);
  for (std::int64_t i = 0; i < x.n; ++i)
    for (std::int64_t k = 0; k < x.n; ++k)
      for (std::int64_t j = 0; j < x.n; ++j) out(i, j) += x(i, k) * y(k, j);
  return out;
}

template <class T>
Dense<T> adjoint(const Dense<T> &x) {
  Dense<T> out(x.n);
  for (std::int64_t i = 0; i < x.n; ++i)
    for (std::int64_t j = 0; j < x.n; ++j) out(j, i) = plugin::conjugate(x(i, j));
  return out;
}

template <class T>
Dense<T> dense_of(const Matrix<T> &a) {
  Dense<T> out(a.n);
  for (std::int64_t i = 0; i < a.n; ++i)
    for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) out(i, a.col[k]) = a.values[k];
  return out;
}

// Gauss-Jordan with row exchanges.
template <class T>
Dense<T> inverse(Dense<T> a) {
  Dense<T> out(a.n);
  for (std::int64_t i = 0; i < a.n; ++i) out(i, i) = T(1);
  for (std::int64_t k = 0; k < a.n; ++k) {
    std::int64_t best = k;
    for (std::int64_t i = k; i < a.n; ++i)
      if (std::abs(a(i, k)) > std::abs(a(best, k))) best = i;
    for (std::int64_t j = 0; j < a.n; ++j) std::swap(a(k, j), a(best, j)), std::swap(out(k, j), out(best, j));
    const T pivot = a(k, k);
    for (std::int64_t j = 0; j < a.n; ++j) a(k, j) /= pivot, out(k, j) /= pivot;
    for (std::int64_t i = 0; i < a.n; ++i) {
      const T factor = a(i, k);
      if (i == k || factor == T(0)) continue;
      for (std::int64_t j = 0; j < a.n; ++j) a(i, j) -= factor * a(k, j), out(i, j) -= factor * out(k, j);
    }
  }
  return out;
}

// M, column by column.
template <class T>
Dense<T> dense_of(Prepared &m, std::int64_t n) {
  Dense<T> out(n);
  for (std::int64_t j = 0; j < n; ++j) {
    std::vector<T> e(static_cast<std::size_t>(n), T(0));
    e[static_cast<std::size_t>(j)] = T(1);
    const std::vector<T> column = m.apply(e);
    for (std::int64_t i = 0; i < n; ++i) out(i, j) = column[static_cast<std::size_t>(i)];
  }
  return out;
}

// Largest difference, in units of the largest entry and the type's rounding.
template <class T>
double distance(const Dense<T> &x, const Dense<T> &y) {
  double difference = 0, size = 0;
  for (std::size_t k = 0; k < x.a.size(); ++k) {
    const double d = static_cast<double>(std::abs(x.a[k] - y.a[k]));
    if (!(d <= difference)) difference = d;  // NaN stays
    size = std::max(size, static_cast<double>(std::abs(y.a[k])));
  }
  return difference / (size * static_cast<double>(std::numeric_limits<plugin::real_of<T>>::epsilon()));
}

// ---- matrices ----------------------------------------------------------------------------------------------------

// Hermitian positive definite: random couplings of points, `unknowns` rows each with the same pattern.
template <class T>
Matrix<T> coupled(std::int32_t points, std::int32_t unknowns, std::uint64_t salt = 1) {
  using Real = plugin::real_of<T>;
  const std::int32_t n = points * unknowns;
  std::vector<std::map<std::int32_t, T>> rows(static_cast<std::size_t>(n));
  const auto couple = [&](std::int32_t p, std::int32_t q) {
    for (std::int32_t i = p * unknowns; i < (p + 1) * unknowns; ++i)
      for (std::int32_t j = q * unknowns; j < (q + 1) * unknowns; ++j) {
        if (i == j) continue;
        const std::uint64_t place = static_cast<std::uint64_t>(std::min(i, j)) * 1000 + std::max(i, j);
        T value(static_cast<Real>(noise(place, salt)));
        if constexpr (plugin::is_complex<T>) value.imag(static_cast<Real>(noise(place, salt + 1) * (i < j ? 1 : -1)));
        rows[i][j] = value;
      }
  };
  for (std::int32_t p = 0; p < points; ++p) {
    couple(p, p);
    const auto q = static_cast<std::int32_t>((noise(p, salt + 2) + 1) / 2 * points);
    for (const std::int32_t other : {q, (p + 1) % points})
      if (other != p) couple(p, other), couple(other, p);
  }
  Matrix<T> a;
  for (std::int32_t i = 0; i < n; ++i) {
    double sum = 0.1;
    for (const auto &[j, value] : rows[i]) sum += static_cast<double>(std::abs(value));
    rows[i][i] = static_cast<Real>(sum);
    a.append_row(rows[i]);
  }
  return a;
}

// ---- tests for every preconditioner -------------------------------------------------------------------------

// Conjugate gradients to 1e-8; the number of iterations, -1 where r'Mr was not positive.
inline int iterations(const Matrix<double> &a, Prepared &m) {
  const auto n = static_cast<std::size_t>(a.n);
  std::vector<double> r(n), p(n, 0.0), q(n);
  for (std::size_t i = 0; i < n; ++i) r[i] = noise(i, 9);
  const auto dot = [n](const std::vector<double> &x, const std::vector<double> &y) {
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += x[i] * y[i];
    return sum;
  };
  const double first = dot(r, r);
  double gamma = 0;
  for (int k = 0; k < 10000; ++k) {
    if (dot(r, r) <= 1e-16 * first) return k;
    const std::vector<double> z = m.apply(r);
    const double next = dot(r, z);
    if (!(next > 0)) return -1;
    for (std::size_t i = 0; i < n; ++i) p[i] = z[i] + (k ? next / gamma : 0) * p[i];
    gamma = next;
    a.multiply(p.data(), q.data());
    const double alpha = gamma / dot(p, q);
    for (std::size_t i = 0; i < n; ++i) r[i] -= alpha * q[i];
  }
  return 10000;
}
inline int iterations(const Matrix<double> &a, const sxt_kernel &kernel, const char *method = "") {
  Prepared m(kernel, a.view(), SXT_F64, 1, method);
  EXPECT_EQ(m.status, SXT_OK) << Host::sentence;
  return m.status == SXT_OK ? iterations(a, m) : -1;
}
inline const sxt_kernel &jacobi() {
  return find_kernel(load_own("preconditioner-jacobi"), "preconditioner.jacobi.cpu");
}

// M is Hermitian, and x'Mx > 0 for random x.
template <class T>
void expect_definite(const Dense<T> &m) {
  EXPECT_LT(distance(m, adjoint(m)), 100);
  for (std::uint64_t salt = 0; salt < 5; ++salt) {
    double sum = 0;
    for (std::int64_t i = 0; i < m.n; ++i)
      for (std::int64_t j = 0; j < m.n; ++j)
        sum += static_cast<double>(std::real(m(i, j))) * noise(i, salt) * noise(j, salt);
    EXPECT_GT(sum, 0);
  }
}

// Every case of the kind.
inline void expect_cases_pass(const sxt_kernel &kernel) {
  const sxt_kind &kind = *load_own("preconditioner-reference")->kinds[0];
  for (std::uint64_t i = 0; i < kind.n_cases; ++i) {
    sxt_case c{};
    ASSERT_EQ(kind.make_case(Host::table(), 4, i, &c), SXT_OK);
    SCOPED_TRACE(std::string(kernel.name) + ", " + c.description);
    const auto &a = plugin::as<sxt_csr>(c.a);
    const auto &args = plugin::as<sxt_preconditioner_args>(c.args);
    Prepared m(kernel, a, c.query->value_type, 2);
    EXPECT_EQ(m.status, SXT_OK) << Host::sentence;
    if (m.status == SXT_OK) {
      plugin::with_value_type(c.query->value_type, [&]<class T>(plugin::Tag<T>) {
        const T *r = static_cast<const T *>(args.r);
        const std::vector<T> z = m.apply(std::vector<T>(r, r + args.n));
        std::copy(z.begin(), z.end(), static_cast<T *>(args.z));
        return static_cast<sxt_status>(SXT_OK);
      });
      double error = 99;
      char text[256] = "";
      sxt_message message{text, sizeof text};
      EXPECT_EQ(kind.compare(&c, nullptr, &error, &message), SXT_OK);
      EXPECT_LE(error, 1) << text;
    }
    kind.free_case(&c);
  }
}

// One and several threads give the same bits.
inline void expect_equal_bits(const sxt_kernel &kernel) {
  const Matrix<double> a = grid<double>(20, [](std::int32_t i) { return 1.5 + noise(i); });
  std::vector<double> r(static_cast<std::size_t>(a.n));
  for (std::size_t i = 0; i < r.size(); ++i) r[i] = noise(i, 3);
  Prepared one(kernel, a.view(), SXT_F64, 1), three(kernel, a.view(), SXT_F64, 3);
  EXPECT_EQ(one.apply(r), three.apply(r));
}

// New values, same pattern, without an allocation: the bits of a fresh one. factor: multiplies A.
inline void expect_refresh_equals_prepare(const sxt_kernel &kernel, const char *method = "") {
  const Matrix<double> before = coupled<double>(20, 2), after = [&before] {
    Matrix<double> a = before;
    for (double &value : a.values) value *= 4;
    return a;
  }();
  std::vector<double> r(static_cast<std::size_t>(before.n), 1.0);
  Prepared m(kernel, before.view(), SXT_F64, 1, method), fresh(kernel, after.view(), SXT_F64, 1, method);
  const int blocks = Host::blocks;
  EXPECT_NE(m.apply(r), fresh.apply(r));
  Host::fail_after = 0;  // any allocation would fail
  EXPECT_EQ(m.refresh(after.view()), SXT_OK) << Host::sentence;
  Host::fail_after = -1;
  EXPECT_EQ(m.apply(r), fresh.apply(r));
  EXPECT_EQ(m.refresh(coupled<double>(21, 2).view()), SXT_E_DIMENSION);
  EXPECT_EQ(Host::blocks, blocks);
}

// Every allocation of prepare fails once: a status, and nothing is lost.
inline void expect_memory_failures_survived(const sxt_kernel &kernel) {
  const Matrix<double> a = coupled<double>(8, 2);
  const int blocks = Host::blocks;
  int failures = 0;
  for (int allowed = 0; allowed < 100; ++allowed) {
    Host::fail_after = allowed;
    const sxt_status status = Prepared(kernel, a.view(), SXT_F64).status;
    Host::fail_after = -1;
    EXPECT_EQ(Host::blocks, blocks);
    if (status == SXT_OK) break;
    EXPECT_EQ(status, SXT_E_MEMORY);
    ++failures;
  }
  EXPECT_GT(failures, 0);
  EXPECT_LT(failures, 100);
}

// The reason of applicable for a method: "" when it applies.
inline std::string refusal(const sxt_kernel &kernel, const char *method, std::int64_t rows = 5, std::int64_t cols = 5) {
  sxt_preconditioner_query query{};
  query.m.rows = rows, query.m.cols = cols;
  query.m.q.value_type = SXT_F64;
  std::strcpy(query.method, method);
  char text[256] = "";
  sxt_message message{text, sizeof text};
  return kernel.applicable(&query.m.q, nullptr, nullptr, &message) == SXT_OK ? "" : text;
}

}  // namespace preconditioner_test
