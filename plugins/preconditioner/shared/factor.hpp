// SPDX-License-Identifier: BSD-3-Clause
// For preconditioners on the CPU: factors as compact CSR, the one product with them that all methods here use, and
// Cholesky of small dense blocks. Rows are summed in order by one thread: equal bits for every team.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>

#include "plugins/preconditioner/shared/factor_products.hpp"
#include "sextant/sdk/cpu/csr.hpp"
#include "sextant/sdk/cpu/threads.hpp"

namespace sextant::plugin::precondition {

// ---- the matrix a preconditioner is made from --------------------------------------------------------------------

// Host CSR with offsets in 64 bits; values of the stored type.
template <class M>
struct Rows {
  std::int64_t n;
  const std::int64_t *ptr;
  const std::int32_t *col;
  const M *values;

  // The position of column j in row i, or of the first entry after it. Columns are sorted.
  std::int64_t find(std::int64_t i, std::int64_t j) const {
    return std::lower_bound(col + ptr[i], col + ptr[i + 1], static_cast<std::int32_t>(j)) - col;
  }
  // The entry (i, j) as T, 0 where none is stored.
  template <class T>
  T at(std::int64_t i, std::int64_t j) const {
    const std::int64_t k = find(i, j);
    return k < ptr[i + 1] && col[k] == j ? static_cast<T>(values[k]) : T(0);
  }
};

// The offsets of a matrix in 64 bits: its own, or a copy made once, since a refresh may not allocate.
class Offsets {
 public:
  Offsets() = default;
  Offsets(const sxt_exec *exec, const sxt_csr &a) {
    const auto count = static_cast<std::uint64_t>(a.s.rows + 1);
    if (a.s.offset_type == SXT_I32) copy_ = Memory(exec, SXT_SPACE_HOST, count * sizeof(std::int64_t));
    if (a.s.offset_type == SXT_I32)
      std::copy_n(static_cast<const std::int32_t *>(a.row_ptr), count, copy_.as<std::int64_t>());
  }
  template <class M>
  Rows<M> rows(const sxt_csr &a) const {
    const auto *ptr = static_cast<const std::int64_t *>(copy_.data() ? copy_.data() : a.row_ptr);
    return {a.s.rows, ptr, static_cast<const std::int32_t *>(a.col), static_cast<const M *>(a.values)};
  }

 private:
  Memory copy_;
};

// sxt_kernel.prepare of a State with type, n and threads: build(state, a) lays it out and computes it.
template <class State, class Build>
sxt_status build_state(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_exec *exec, void **out,
                       Build &&build) {
  return guard(exec, [&]() -> sxt_status {
    const sxt_csr *a = nullptr;
    if (const sxt_status status = need_csr(*problem, -1, exec, &a); status != SXT_OK) return status;
    auto state = std::make_unique<State>();
    state->type = problem->query->value_type;
    state->n = a->s.rows;
    state->threads = team_size(candidate ? candidate->launch[0] : exec->threads, *exec);
    if (const sxt_status status = build(*state, *a); status != SXT_OK) return status;
    return give(state.release(), out);
  });
}

// The least of the numbers that several threads note; -1: none.
class First {
 public:
  void note(std::int64_t i) {
    std::int64_t known = least_;
    while (i < known && !least_.compare_exchange_weak(known, i)) {
    }
  }
  std::int64_t get() const { return least_ == none ? -1 : least_.load(); }

 private:
  static constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
  std::atomic<std::int64_t> least_{none};
};

// The status of the diagonal of row i; SXT_OK when it is a positive, finite, real number.
template <class M>
sxt_status check_diagonal(const Rows<M> &a, std::int64_t i, const char *method, const sxt_exec *exec) {
  using T = std::conditional_t<is_complex<M>, std::complex<double>, double>;
  const T entry = a.template at<T>(i, i);
  const double re = std::real(entry), im = std::imag(entry);
  if (re > 0 && std::isfinite(re) && im == 0) return SXT_OK;
  return error(exec, SXT_E_DIAGONAL,
               "row %lld (counting from 0) has the diagonal entry %.9g%+.9g i (0 where none is stored); %s needs a "
               "positive, finite, real diagonal",
               (long long)i, re, im, method);
}

// ---- factors -----------------------------------------------------------------------------------------------------

// A sparse matrix of the vectors' type in CSR.
struct Factor {
  std::int64_t n = 0, nnz = 0;
  Memory ptr, col, values;  // int64 n + 1, int32 nnz, T nnz

  Factor() = default;
  Factor(const sxt_exec *exec, std::int64_t rows, std::int64_t entries, sxt_value_type type)
      : n(rows),
        nnz(entries),
        ptr(exec, SXT_SPACE_HOST, static_cast<std::uint64_t>(rows + 1) * sizeof(std::int64_t)),
        col(exec, SXT_SPACE_HOST, static_cast<std::uint64_t>(entries) * sizeof(std::int32_t)),
        values(exec, SXT_SPACE_HOST, static_cast<std::uint64_t>(entries) * value_bytes(type)) {}
};

// The same in the form that core and kernels of other plugins read.
inline sxt_csr csr_of(const Factor &f, sxt_value_type type) {
  return square_csr(type, f.n, f.nnz, SXT_I64, SXT_SPACE_HOST, f.ptr.data(), f.col.data(), f.values.data());
}
// Bytes of such a factor.
inline double factor_bytes(double n, double nnz, sxt_value_type type) {
  return 8 * n + nnz * (4 + static_cast<double>(value_bytes(type)));
}

// Rows of part `part`, such that entries + rows are spread evenly.
inline Range even_rows(const std::int64_t *ptr, std::int64_t n, int parts, int part) {
  const auto border = [&](std::int64_t p) {
    const std::int64_t target = (ptr[n] + n) * p / parts;
    std::int64_t low = 0, high = n;
    while (low < high) {
      const std::int64_t middle = (low + high) / 2;
      if (ptr[middle] + middle < target)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  };
  return {part == 0 ? 0 : border(part), part + 1 == parts ? n : border(part + 1)};
}

// sum over row i of F_ik x_k.
template <class T, class M>
T row_product(const Rows<M> &f, std::int64_t i, const T *x) {
  T sum(0);
  for (std::int64_t k = f.ptr[i]; k < f.ptr[i + 1]; ++k) sum += product(static_cast<T>(f.values[k]), x[f.col[k]]);
  return sum;
}

template <class T>
Rows<T> rows_of(const Factor &f) {
  return {f.n, f.ptr.as<std::int64_t>(), f.col.as<std::int32_t>(), f.values.as<T>()};
}

// f(i) for every row, spread over a team by entries.
template <class F>
void for_each_row(const std::int64_t *ptr, std::int64_t n, int team, F &&f) {
  for_each_part(team, team, [&](int part) {
    const Range rows = even_rows(ptr, n, team, part);
    for (std::int64_t i = rows.begin; i < rows.end; ++i) f(i);
  });
}

// y = s (a + alpha F x), s and a NULL: 1 and 0. SSOR-AI and FSAI are applied by it.
template <class T>
void apply_factor(const Factor &factor, T alpha, const T *x, const T *a, const real_of<T> *s, T *y, int team) {
  const Rows<T> f = rows_of<T>(factor);
  for_each_row(f.ptr, f.n, team, [&](std::int64_t i) {
    T sum = product(alpha, row_product(f, i, x));
    if (a) sum += a[i];
    y[i] = s ? s[i] * sum : sum;
  });
}

// G' G r for a state with lower G and upper G', as the methods apply it.
template <class State, class T>
sxt_status apply_pair(const State &state, const void *session, const T *r, T *t, T *z, int team, const sxt_exec &exec) {
  const auto own = [&](const Factor &factor, const T *x, T *y) {
    apply_factor<T>(factor, T(1), x, nullptr, nullptr, y, team);
  };
  return multiply_pair(state, static_cast<const FactorProducts *>(session), r, t, z, exec, own);
}

// Fills the pattern of the transposed factor; cursor: n int64 of working memory.
inline void transpose_pattern(const Factor &f, const Factor &transposed, std::int64_t *cursor) {
  const auto *ptr = f.ptr.as<std::int64_t>();
  const auto *col = f.col.as<std::int32_t>();
  auto *to = transposed.ptr.as<std::int64_t>();
  auto *to_col = transposed.col.as<std::int32_t>();
  std::fill(to, to + f.n + 1, 0);
  for (std::int64_t k = 0; k < f.nnz; ++k) ++to[col[k] + 1];
  for (std::int64_t i = 0; i < f.n; ++i) to[i + 1] += to[i], cursor[i] = to[i];
  for (std::int64_t i = 0; i < f.n; ++i)
    for (std::int64_t k = ptr[i]; k < ptr[i + 1]; ++k) to_col[cursor[col[k]]++] = static_cast<std::int32_t>(i);
}
// The conjugated values of a factor into its transposed pattern.
template <class T>
void transpose_values(const Factor &f, const Factor &transposed, std::int64_t *cursor) {
  const Rows<T> from = rows_of<T>(f);
  std::copy_n(transposed.ptr.as<std::int64_t>(), f.n, cursor);
  T *to = transposed.values.as<T>();
  for (std::int64_t k = 0; k < f.nnz; ++k) to[cursor[from.col[k]]++] = conjugate(from.values[k]);
}

// ---- small dense systems -----------------------------------------------------------------------------------------

// A = C C' in place, lower triangles, row-major with leading dimension ld. Returns -1, or the first row whose pivot is
// not positive beyond rounding, with that pivot.
template <class T>
std::int64_t factor_lower(T *a, std::int64_t m, std::int64_t ld, double *pivot) {
  using Real = real_of<T>;
  for (std::int64_t k = 0; k < m; ++k) {
    const T *row_k = a + k * ld;
    Real d = std::real(row_k[k]);
    const Real least = std::numeric_limits<Real>::epsilon() * d;
    for (std::int64_t j = 0; j < k; ++j) d -= std::norm(row_k[j]);
    if (!(d > least) || !(d <= std::numeric_limits<Real>::max())) return *pivot = static_cast<double>(d), k;
    const Real root = std::sqrt(d);
    a[k * ld + k] = root;
    for (std::int64_t i = k + 1; i < m; ++i) {
      T *row_i = a + i * ld;
      T sum = row_i[k];
      for (std::int64_t j = 0; j < k; ++j) sum -= product(row_i[j], conjugate(row_k[j]));
      row_i[k] = sum / root;
    }
  }
  return -1;
}

// The inverse of a lower triangle, in place.
template <class T>
void invert_lower(T *c, std::int64_t m, std::int64_t ld) {
  for (std::int64_t i = 0; i < m; ++i) {
    T *row = c + i * ld;
    const real_of<T> inverse = 1 / std::real(row[i]);
    for (std::int64_t j = 0; j < i; ++j) {  // entry (i, j) is no longer needed once it is replaced
      T sum(0);
      for (std::int64_t k = j; k < i; ++k) sum += product(row[k], c[k * ld + j]);
      row[j] = -sum * inverse;
    }
    row[i] = inverse;
  }
}

// The last row of C^-1: the y with y C = e_last.
template <class T>
void last_row_of_inverse(const T *c, std::int64_t m, std::int64_t ld, T *y) {
  std::fill(y, y + m, T(0));
  y[m - 1] = T(1);
  for (std::int64_t i = m - 1; i >= 0; --i) {
    const T *row = c + i * ld;
    y[i] /= std::real(row[i]);
    for (std::int64_t j = 0; j < i; ++j) y[j] -= product(row[j], y[i]);
  }
}

}  // namespace sextant::plugin::precondition
