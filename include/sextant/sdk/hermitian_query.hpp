// SPDX-License-Identifier: BSD-3-Clause
// Common parts of kernels of kind sxt.hermitian/1 on any device: phases, the flops and bytes that models count, and the
// checks of arguments.
#pragma once

#include <cstdint>

#include "sextant/plugin/kinds/hermitian.h"
#include "sextant/sdk/kernel.hpp"

namespace sextant::plugin {

constexpr bool factors(std::int32_t phase) { return (phase & SXT_HERMITIAN_FACTOR) != 0; }
constexpr bool solves(std::int32_t phase) { return (phase & SXT_HERMITIAN_SOLVE) != 0; }

// Real operations of a set: n^3 / 3 multiply-adds to factor, n^2 a right-hand side for each of two triangles.
inline double hermitian_flops(const sxt_hermitian_query &q) {
  const double each = q.q.value_type == SXT_C64 || q.q.value_type == SXT_C128 ? 8 : 2;
  double count = 0;
  if (factors(q.phase)) count += q.sum_n3 / 6 + q.sum_n2 / 2;
  if (solves(q.phase)) count += q.sum_n2 * static_cast<double>(q.n_rhs);
  return each * count;
}

// Bytes that must pass: a triangle read, written when it is factored, and the right-hand sides read and written.
inline double hermitian_bytes(const sxt_hermitian_query &q) {
  const double value = static_cast<double>(value_bytes(q.q.value_type)), triangle = (q.sum_n2 + q.sum_n1) / 2;
  double values = triangle * (factors(q.phase) ? 2 : 1);
  if (solves(q.phase)) values += 2 * q.sum_n1 * static_cast<double>(q.n_rhs);
  return value * values;
}

// Checks of the args by every kernel of the kind; core has checked them for its own callers.
inline sxt_status check_hermitian_args(const sxt_hermitian_args &args, const sxt_exec *exec) {
  const bool one_a = (args.a == nullptr) != (args.a_array == nullptr);
  const bool one_b = (args.b == nullptr) != (args.b_array == nullptr);
  if (args.batch > 0 && args.n_max > 0 && (!one_a || (solves(args.phase) && args.n_rhs > 0 && !one_b)))
    return error(exec, SXT_E_ARGUMENT, "exactly one of a and a_array, and of b and b_array, must be given");
  if (args.batch > 0 && !args.info) return error(exec, SXT_E_ARGUMENT, "info is missing");
  if (args.batch > 0 && args.definiteness == SXT_HERMITIAN_INDEFINITE &&
      (!args.pivots || args.stride_pivots < args.n_max))
    return error(exec, SXT_E_ARGUMENT, "an indefinite set needs pivots, n_max or more a system");
  return SXT_OK;
}

}  // namespace sextant::plugin
