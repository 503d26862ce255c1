// SPDX-License-Identifier: BSD-3-Clause
// What a factor says beside solutions: pivots, determinant and inertia, an estimate of the condition, the Schur
// complement, entries of the inverse.
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include "core/base/types.hpp"
#include "core/cholesky/factor.hpp"

namespace sextant::cholesky {

namespace {

template <class T>
using Real = decltype(std::abs(T{}));

// mantissa * 2^exponent, where products of doubles may leave their range.
struct Scaled {
  double mantissa = 0;
  int exponent = 0;
};

// |A|_1 of a Hermitian matrix, the largest sum of a row; of entries times a power of two where it would leave the
// range.
Scaled one_norm(const CsrArrays &csr) {
  return with_value_type(csr.value_type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return with_index_type(csr.offset_type, [&](auto offset) {
      using O = typename decltype(offset)::type;
      const auto largest_sum = [&](double scale) {
        double norm = 0;
        for (std::int64_t i = 0; i < csr.rows; ++i) {
          double sum = 0;
          for (O k = csr.row_ptr.as<O>()[i]; k < csr.row_ptr.as<O>()[i + 1]; ++k)
            sum += std::abs(csr.values.as<T>()[k] * static_cast<Real<T>>(scale));
          norm = std::max(norm, sum);
        }
        return norm;
      };
      constexpr int shift = std::is_same_v<Real<T>, float> ? 16 : 64;
      Scaled norm{largest_sum(1), 0};
      if (!std::isfinite(norm.mantissa)) norm = {largest_sum(std::ldexp(1.0, -shift)), shift};
      if (norm.mantissa < 0x1p-100) norm = {largest_sum(std::ldexp(1.0, shift)), -shift};
      int more = 0;
      norm.mantissa = std::frexp(norm.mantissa, &more);
      norm.exponent += more;
      return norm;
    });
  });
}

// Higham's refinement (1988) of Hager's estimate (1984) of |A^-1|_1 for a Hermitian A, times size: a lower bound. solve
// replaces a vector v by A^-1 v; its vectors are of that size, so that what comes back stays in the range.
template <class T, class Solve>
double estimate_inverse_norm(std::int64_t n, Real<T> size, Solve &&solve) {
  std::vector<T> v(static_cast<std::size_t>(n), T(size / static_cast<Real<T>>(n)));
  const auto norm = [&] {
    double sum = 0;
    for (const T x : v) sum += static_cast<double>(std::abs(x));
    return sum;
  };
  const auto sign = [size](T x) {
    const Real<T> length = std::abs(x);
    return length > 0 && std::isfinite(length) ? x / length * size : T(size);
  };
  solve(v.data());
  double estimate = norm();
  constexpr int most_steps = 5;
  std::size_t last = v.size();
  for (int step = 0; step < most_steps && n > 1; ++step) {
    for (T &x : v) x = sign(x);
    solve(v.data());
    const auto largest = std::max_element(v.begin(), v.end(), [](T a, T b) { return std::abs(a) < std::abs(b); });
    const auto at = static_cast<std::size_t>(largest - v.begin());
    if (at == last) break;
    last = at;
    std::fill(v.begin(), v.end(), T{});
    v[at] = T(size);
    solve(v.data());
    const double next = norm();
    if (!(next > estimate)) break;
    estimate = next;
  }
  // A vector that the steps above may be blind to.
  for (std::size_t i = 0; i < v.size() && n > 1; ++i)
    v[i] = T(size * static_cast<Real<T>>((i % 2 ? -1 : 1) * (1 + static_cast<double>(i) / static_cast<double>(n - 1))));
  if (n > 1) {
    solve(v.data());
    estimate = std::max(estimate, 2 * norm() / (3 * static_cast<double>(n)));
  }
  return estimate;
}

// `what` of rows i and j, counted from 0, that a factor without failures gives.
template <class T>
void check_in_range(const char *what, T value, std::int64_t i, std::int64_t j) {
  require(std::isfinite(std::real(value)) && std::isfinite(std::imag(value)), SXT_E_NOT_FINITE, what, " at row ", i,
          " and column ", j, " (counting from 0) is not finite: numbers left the range of ",
          value_name(value_type_of<T>), "; scale the matrix");
}

}  // namespace

std::vector<double> numbers_at(Device &device, const void *there, std::int64_t n, bool single) {
  std::vector<double> out(static_cast<std::size_t>(n));
  if (!single) {
    device.copy(out.data(), there, 8 * static_cast<std::uint64_t>(n));
    return out;
  }
  std::vector<float> narrow(static_cast<std::size_t>(n));
  device.copy(narrow.data(), there, 4 * static_cast<std::uint64_t>(n));
  std::copy(narrow.begin(), narrow.end(), out.begin());
  return out;
}

FactorFacts facts_of(const sxt_symbolic &symbolic, const double *pivots, const int *exponents) {
  FactorFacts facts;
  facts.least_pivot = symbolic.n_factored > 0 ? std::numeric_limits<double>::infinity() : 0;
  for (std::int64_t k = 0; k < symbolic.n_factored; ++k) {
    const double pivot = exponents ? std::ldexp(pivots[k], exponents[k]) : pivots[k];
    facts.log_determinant += std::log(std::fabs(pivots[k])) + (exponents ? exponents[k] * std::log(2.0) : 0);
    (pivot > 0 ? facts.positive : pivot < 0 ? facts.negative : facts.zero) += 1;
    if (pivot < 0) facts.sign = -facts.sign;
    facts.least_pivot = std::min(facts.least_pivot, std::fabs(pivot));
    facts.largest_pivot = std::max(facts.largest_pivot, std::fabs(pivot));
  }
  if (facts.zero > 0) facts.sign = 0;
  return facts;
}

const FactorFacts &Factor::facts() const {
  check_factored();
  FactorPart &its = part();
  const bool scaled = single_ && &its == &own_;
  const std::lock_guard lock(mutex_);
  if (its.facts) return *its.facts;
  auto facts = std::make_unique<FactorFacts>();
  Device &device = analysis_->context().device();
  const sxt_symbolic &symbolic = analysis_->symbolic();
  const std::int64_t n = symbolic.n;
  const bool single = is_single(its.analysis->factor_type());
  DeviceBuffer there(device, static_cast<std::uint64_t>(n) * (single ? 4 : 8));
  sxt_cholesky_args call = args(its, SXT_CHOLESKY_PIVOTS);
  call.b = there.data();
  if (n > 0) its.analysis->solver(1).run(&call.h);
  const std::vector<double> pivots = numbers_at(device, there.data(), n, single);
  std::vector<int> exponents;  // of 1 / s_i^2
  if (scaled)
    for (std::int64_t k = 0; k < symbolic.n_factored; ++k)
      exponents.push_back(-2 * single_->exponent(symbolic.perm[k]));
  *facts = facts_of(symbolic, pivots.data(), scaled ? exponents.data() : nullptr);
  facts->pivots.assign(static_cast<std::size_t>(n), 0);
  for (std::int64_t k = 0; k < symbolic.n_factored; ++k) {
    const auto at = static_cast<std::size_t>(k);
    facts->pivots[static_cast<std::size_t>(symbolic.perm[k])] =
        scaled ? std::ldexp(pivots[at], exponents[at]) : pivots[at];
  }
  its.facts = std::move(facts);
  return *its.facts;
}

double Factor::rcond() const {
  check_factored();
  check_values();
  const std::int64_t n = analysis_->symbolic().n;
  require(analysis_->symbolic().n_factored == n, SXT_E_STATE,
          "rows were left to a Schur complement: the factor is not of the whole matrix");
  if (n == 0) return 1;
  const Scaled norm = one_norm(matrix_->csr());
  if (!(norm.mantissa > 0)) return 0;
  // A vector's size at which what comes back stays in the range: between |A| and 1, else 1, else far below.
  for (const int size : {norm.exponent / 2, 0, is_single(analysis_->value_type()) ? -60 : -500}) {
    const double inverse = inverse_norm(size);
    if (!(std::isfinite(inverse) && inverse > 0)) continue;
    return std::min(1.0, std::ldexp(1 / norm.mantissa / inverse, size - norm.exponent));
  }
  return 0;
}

// An estimate of |A^-1|_1 times 2^size.
double Factor::inverse_norm(int size) const {
  const std::int64_t n = analysis_->symbolic().n;
  return with_value_type(analysis_->value_type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    return estimate_inverse_norm<T>(n, static_cast<Real<T>>(std::ldexp(1.0, size)), [&](T *v) {
      SolveCall call;
      call.ldb = call.ldx = n;
      call.b = call.x = v;
      sxt_cholesky_solve_report ignored{};
      solve(call, ignored);
    });
  });
}

void Factor::schur(void *out, std::int64_t ld) const {
  check_factored();
  const sxt_symbolic &symbolic = analysis_->symbolic();
  const std::int64_t m = symbolic.n - symbolic.n_factored;
  if (m == 0) return;
  with_value_type(analysis_->value_type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::vector<T> block(static_cast<std::size_t>(m * m));
    const T *const there = own_.factor.as<const T>() + symbolic.value_ptr[symbolic.n_super - 1];
    analysis_->context().device().copy(block.data(), there, block.size() * sizeof(T));
    T *const to = static_cast<T *>(out);
    const auto conjugate = [](T x) {
      if constexpr (is_complex<T>)
        return std::conj(x);
      else
        return x;
    };
    // The caller's order of the rows against the order of elimination.
    const std::int32_t *const rows = symbolic.perm + symbolic.n_factored;
    for (std::int64_t c = 0; c < m; ++c)
      for (std::int64_t r = c; r < m; ++r)
        check_in_range("the Schur complement", block[static_cast<std::size_t>(r + c * m)], rows[r], rows[c]);
    std::vector<std::int64_t> place(static_cast<std::size_t>(m));
    for (std::int64_t k = 0; k < m; ++k)
      place[static_cast<std::size_t>(k)] =
          symbolic.inverse[analysis_->settings().schur_rows[static_cast<std::size_t>(k)]] - symbolic.n_factored;
    for (std::int64_t j = 0; j < m; ++j)
      for (std::int64_t i = 0; i < m; ++i) {
        const std::int64_t r = place[static_cast<std::size_t>(i)], c = place[static_cast<std::size_t>(j)];
        if (r == c)  // updates of a complex diagonal leave roundings beside it
          to[i + j * ld] = T(std::real(block[static_cast<std::size_t>(r + c * m)]));
        else
          to[i + j * ld] = r > c ? block[static_cast<std::size_t>(r + c * m)]
                                 : conjugate(block[static_cast<std::size_t>(c + r * m)]);
      }
  });
}

void Factor::inverse(std::int64_t count, const std::int64_t *rows, const std::int64_t *cols, std::int64_t base,
                     void *values) const {
  check_factored();
  const sxt_symbolic &symbolic = analysis_->symbolic();
  require(symbolic.n_factored == symbolic.n, SXT_E_STATE,
          "rows were left to a Schur complement: the factor is not of the whole matrix");
  std::vector<std::int64_t> from(static_cast<std::size_t>(count));
  std::vector<char> turned(static_cast<std::size_t>(count));
  for (std::int64_t k = 0; k < count; ++k) {
    const std::int64_t i = rows[k] - base, j = cols[k] - base;
    require(i >= 0 && i < symbolic.n && j >= 0 && j < symbolic.n, SXT_E_INDEX, "rows[", k, "] and cols[", k, "] are (",
            rows[k], ", ", cols[k], "), outside of the matrix");
    const std::int64_t r = symbolic.inverse[i], c = symbolic.inverse[j];
    from[static_cast<std::size_t>(k)] = analysis_->place_of(std::max(r, c), std::min(r, c));
    turned[static_cast<std::size_t>(k)] = r < c;
    require(from[static_cast<std::size_t>(k)] >= 0, SXT_E_INDEX, "rows[", k, "] and cols[", k, "] are (", rows[k], ", ",
            cols[k], "), which is no entry of L: the selected inverse does not hold it");
  }
  if (count == 0) return;
  const FactorPart &its = part();
  const bool scaled = single_ && &its == &own_;
  Device &device = analysis_->context().device();
  DeviceBuffer there(device, its.factor.bytes());
  sxt_cholesky_args call = args(its, SXT_CHOLESKY_INVERSE);
  call.inverse = there.data();
  its.analysis->inverter().run(&call.h);
  Buffer copy;
  if (!device.on_host()) {
    copy = Buffer(there.bytes(), analysis_->context().allocator());
    device.copy(copy.data(), there.data(), there.bytes());
  }
  const void *const here = device.on_host() ? there.data() : copy.data();
  with_value_type(analysis_->value_type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto entry = [&](std::int64_t k) {
      const std::int64_t at = from[static_cast<std::size_t>(k)];
      if (!scaled) return static_cast<const T *>(here)[at];
      const double s = std::ldexp(1.0, single_->exponent(rows[k] - base)),
                   t = std::ldexp(1.0, single_->exponent(cols[k] - base));
      if constexpr (is_complex<T>)
        return T(c128(static_cast<const c64 *>(here)[at]) * s * t);
      else
        return T(static_cast<double>(static_cast<const float *>(here)[at]) * s * t);
    };
    for (std::int64_t k = 0; k < count; ++k) {
      T value = entry(k);
      check_in_range("the inverse", value, rows[k] - base, cols[k] - base);
      if constexpr (is_complex<T>)
        if (turned[static_cast<std::size_t>(k)]) value = std::conj(value);
      static_cast<T *>(values)[k] = value;
    }
  });
}

}  // namespace sextant::cholesky
