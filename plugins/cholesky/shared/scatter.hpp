// SPDX-License-Identifier: BSD-3-Clause
// The values of A where a factor begins with them, for schedulers that work on the factor's own memory.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "call.hpp"

namespace sextant_cholesky {

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
