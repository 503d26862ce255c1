// SPDX-License-Identifier: BSD-3-Clause
// What schedulers of kind sxt.cholesky/1 need beside their method: the terms of their models, the checks of a call, its
// sets, its pivots, and the values of A where a factor begins with them. Header-only, no part of the ABI.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "sextant/plugin/kinds/cholesky.h"
#include "sextant/sdk/dense_pivots.hpp"
#include "sextant/sdk/kernel.hpp"

namespace sextant_cholesky {

using namespace sextant::plugin;

// The terms of a candidate, as many as a kernel names (its list ends with NULL); it keeps all units busy.
template <std::size_t names>
void put_terms(sxt_candidate &candidate, const char *const (&)[names], const double (&terms)[names - 1]) {
  static_assert(names - 1 <= SXT_MAX_TERMS);
  for (std::size_t k = 0; k + 1 < names; ++k) candidate.terms[k] = terms[k];
  candidate.n_terms = names - 1;
  candidate.units = 0;
}

inline bool solves(std::int32_t phase) { return phase >= SXT_CHOLESKY_FORWARD && phase <= SXT_CHOLESKY_SOLVE; }

inline sextant_dense::PivotRule pivot_rule(const sxt_cholesky_args &args) {
  return {args.pivot_policy, args.pivot_tolerance, args.pivot_value, args.factors == SXT_FACTORS_LLH};
}

inline sxt_status check(const sxt_cholesky_args &args, const sxt_symbolic &s, const sxt_exec *exec) {
  if (args.phase < SXT_CHOLESKY_FACTOR || args.phase > SXT_CHOLESKY_PIVOTS)
    return error(exec, SXT_E_ARGUMENT, "%d is no phase of a Cholesky factorisation", args.phase);
  if (args.factors != SXT_FACTORS_LLH && args.factors != SXT_FACTORS_LDLH)
    return error(exec, SXT_E_ARGUMENT, "%d is no factorisation", args.factors);
  if (!args.factor && s.values > 0) return error(exec, SXT_E_ARGUMENT, "there is no memory for the factor");
  if (args.phase == SXT_CHOLESKY_FACTOR &&
      ((!args.values && s.n_entries > 0) || !args.failed_column || !args.failed_pivot || !args.changed))
    return error(exec, SXT_E_ARGUMENT, "a factorisation needs values, and memory for what it tells");
  if (solves(args.phase) && ((!args.b && args.n_rhs > 0 && s.n > 0) || args.ldb < s.n))
    return error(exec, SXT_E_ARGUMENT, "right-hand sides are missing, or %lld apart where there are %lld rows",
                 (long long)args.ldb, (long long)s.n);
  if (args.phase == SXT_CHOLESKY_PIVOTS && !args.b && s.n > 0)
    return error(exec, SXT_E_ARGUMENT, "there is no memory for the pivots");
  if (args.phase != SXT_CHOLESKY_INVERSE) return SXT_OK;
  if (!args.inverse && s.values > 0) return error(exec, SXT_E_ARGUMENT, "there is no memory for the inverse");
  if (s.n_factored < s.n)
    return error(exec, SXT_E_NOT_SUPPORTED, "with a Schur complement the inverse has no entries that the factor gives");
  return SXT_OK;
}

// A factor of one type is made of values of that type, or of its single precision.
inline sxt_status check_types(const sxt_cholesky_args &args, sxt_value_type prepared, const sxt_exec *exec) {
  if (args.value_type != prepared) return error(exec, SXT_E_TYPE, "it was prepared for %s", value_name(prepared));
  const bool half = (args.value_type == SXT_F64 && args.value_type_a == SXT_F32) ||
                    (args.value_type == SXT_C128 && args.value_type_a == SXT_C64);
  if (args.phase == SXT_CHOLESKY_FACTOR && args.value_type_a != args.value_type && !half)
    return error(exec, SXT_E_TYPE, "a factor of %s cannot be made of %s", value_name(args.value_type),
                 value_name(args.value_type_a));
  return SXT_OK;
}

// Set `set` of an array whose sets lie `stride` numbers apart.
template <class T>
T *set_of(void *array, std::int64_t stride, std::int64_t set) {
  return static_cast<T *>(array) + set * stride;
}
template <class T>
const T *set_of(const void *array, std::int64_t stride, std::int64_t set) {
  return static_cast<const T *>(array) + set * stride;
}

// The pivots of one set in the order of elimination.
template <class T>
void tell_pivots(const sxt_symbolic &s, const T *l, bool definite, real_of<T> *out) {
  for (std::int64_t p = 0; p < s.n_super; ++p) {
    const std::int64_t rows = s.row_ptr[p + 1] - s.row_ptr[p];
    for (std::int64_t j = s.super_ptr[p]; j < s.super_ptr[p + 1]; ++j) {
      const real_of<T> d = std::real(l[s.value_ptr[p] + (j - s.super_ptr[p]) * (rows + 1)]);
      out[j] = j >= s.n_factored ? real_of<T>(0) : definite ? d * d : d;
    }
  }
}

struct Failure {
  std::int64_t column = -1;
  double pivot = 0;
};

// The values of A where they go, or the first column that holds one that is not finite. values may be of half the
// precision.
template <class T, class A>
Failure scatter(const sxt_symbolic &s, const A *values, T *l) {
  std::int64_t first_bad = -1;
  std::fill(l, l + s.values, T(0));
  for (std::int64_t k = 0; k < s.n_entries; ++k) {
    const T value = static_cast<T>(values[s.entry_from[k]]);
    l[s.entry_to[k]] = k < s.n_straight ? value : conjugate(value);
    if (std::isfinite(std::real(value)) && std::isfinite(std::imag(value))) continue;
    const std::int64_t p = std::upper_bound(s.value_ptr, s.value_ptr + s.n_super + 1, s.entry_to[k]) - s.value_ptr - 1;
    const std::int64_t j = s.super_ptr[p] + (s.entry_to[k] - s.value_ptr[p]) / (s.row_ptr[p + 1] - s.row_ptr[p]);
    if (first_bad < 0 || j < first_bad) first_bad = j;
  }
  return {first_bad, std::numeric_limits<double>::quiet_NaN()};
}

// Scatters set `set` of args->values into its factor of type T.
template <class T>
Failure scatter_set(const sxt_symbolic &s, const sxt_cholesky_args &args, std::int64_t set, T *l) {
  Failure failure;
  with_matrix_types(args.value_type, args.value_type_a, [&](auto value, auto matrix) {
    if constexpr (std::is_same_v<T, typename decltype(value)::type>)
      failure = scatter(s, set_of<typename decltype(matrix)::type>(args.values, args.stride_values, set), l);
    return SXT_OK;
  });
  return failure;
}

}  // namespace sextant_cholesky
