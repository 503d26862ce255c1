// SPDX-License-Identifier: BSD-3-Clause
// What becomes of a pivot (sxt_dense_args): written once, so that all kernels of the kind agree. Includes no C++
// standard header, so that files compiled once an instruction set may use it.
#pragma once

#include "sextant/plugin/kinds/dense.h"

namespace sextant_dense {

struct PivotRule {
  int32_t policy;
  double tolerance, value;
  bool definite;  // potrf: a pivot must be positive
};

enum class Pivot { good, changed, failed };

// Judges a pivot and changes it where the rule says so. constexpr: device code calls it, too.
template <class R>
constexpr Pivot judge(const PivotRule &rule, R &pivot) {
  const double p = static_cast<double>(pivot), size = p < 0 ? -p : p;
  if (!(p - p == 0)) return Pivot::failed;  // NaN or infinite
  const bool small = size <= rule.tolerance;
  if (small && rule.policy != SXT_PIVOT_POLICY_FAIL) {
    const bool negative = rule.policy == SXT_PIVOT_POLICY_PERTURB && !rule.definite && p < 0;
    pivot = static_cast<R>(negative ? -rule.value : rule.value);
    return rule.definite && !(pivot > 0) ? Pivot::failed : Pivot::changed;
  }
  return small || (rule.definite && p <= 0) ? Pivot::failed : Pivot::good;
}

}  // namespace sextant_dense
