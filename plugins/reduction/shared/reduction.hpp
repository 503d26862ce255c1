// SPDX-License-Identifier: BSD-3-Clause
// Common parts of CPU kernels of kind sxt.reduction/1: the queries that those in working precision serve, which
// operations read two vectors, and the 2-norm where squares overflow or vanish.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "sextant/plugin/kinds/reduction.h"
#include "sextant/sdk/kernel.hpp"

namespace sextant::plugin {

inline bool reads_two_vectors(std::int32_t operation) {
  return operation == SXT_REDUCTION_DOT || operation == SXT_REDUCTION_DOTC;
}

inline sxt_status working_precision_applicable(const sxt_query *query, const sxt_features *, const sxt_machine *,
                                               sxt_message *reason) {
  const auto &q = as<sxt_reduction_query>(query);
  if (q.operation < SXT_REDUCTION_SUM || q.operation > SXT_REDUCTION_MAX)
    return refuse(reason, "operation %d is not one of %d to %d", q.operation, SXT_REDUCTION_SUM, SXT_REDUCTION_MAX);
  const bool ordered = q.operation == SXT_REDUCTION_MIN || q.operation == SXT_REDUCTION_MAX;
  if (ordered && (q.q.value_type == SXT_C64 || q.q.value_type == SXT_C128))
    return refuse(reason, "complex numbers have no smallest or largest");
  if (q.accuracy != SXT_ACCURACY_WORKING && q.operation <= SXT_REDUCTION_ASUM)
    return refuse(reason, "sums in working precision; accuracy %d is asked for", q.accuracy);
  return SXT_OK;
}

// The 2-norm of x. squares(scale): the sum of the elements' squares, each scaled, as an R; largest(): the largest
// magnitude. The plain sum where it is safe; else elements are scaled by a power of two, which rounds nothing.
template <class R, class T, class Squares, class Largest>
R scaled_norm(const T *x, std::int64_t n, Squares &&squares, Largest &&largest) {
  using Limits = std::numeric_limits<R>;
  const R plain = squares(1.0);
  // Squares below the normal numbers lose digits: together at most n times the least normal one.
  const R safe = static_cast<R>(n) * Limits::min() / Limits::epsilon();
  if (std::isnan(plain) || (plain > safe && plain <= Limits::max())) return std::sqrt(plain);
  R most = largest();
  if (most == 0 || std::isnan(most)) return most;
  if (std::isinf(most)) {  // infinite, or |re| + |im| beyond the largest number
    for (std::int64_t i = 0; i < n; ++i)
      if (std::isinf(std::real(x[i])) || std::isinf(std::imag(x[i]))) return most;
    most = static_cast<R>(std::numeric_limits<real_of<T>>::max());
  }
  const int exponent = std::clamp(-std::ilogb(most), Limits::min_exponent, Limits::max_exponent - 1);
  return std::ldexp(std::sqrt(squares(std::ldexp(1.0, exponent))), -exponent);
}

}  // namespace sextant::plugin
