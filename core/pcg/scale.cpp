// SPDX-License-Identifier: BSD-3-Clause
#include "core/pcg/scale.hpp"

#include <algorithm>
#include <limits>

#include "core/base/types.hpp"

namespace sextant {

bool is_near(sxt_value_type type, double size) {
  const double most = std::ldexp(1, is_single(type) ? 20 : 300);
  return size >= 1 / most && size <= most;
}

int furthest_exponent(sxt_value_type type) { return is_single(type) ? 120 : 1000; }

int shift_near(sxt_value_type type, double size) {
  if (size == 0 || is_near(type, size) || !std::isfinite(size)) return 0;
  const int furthest = furthest_exponent(type);
  return std::clamp(-std::ilogb(size), -furthest, furthest);
}

void shift_by(Operations &operations, sxt_value_type type, std::int64_t n, void *vector, int by) {
  const int most = furthest_exponent(type);
  while (by != 0) {
    const int step = std::clamp(by, -most, most);
    const double factor[2] = {std::ldexp(1, step), 0};
    const float factor_f[2] = {static_cast<float>(factor[0]), 0};
    const void *const alpha = is_single(type) ? static_cast<const void *>(factor_f) : factor;
    operations.vector({.operation = SXT_VECTOR_SCALE, .type = type, .n = n, .alpha = alpha, .y = vector});
    by -= step;
  }
}

double callers_norm(double norm, int shift) {
  return shift == 0 ? norm : std::min(std::ldexp(norm, -shift), std::numeric_limits<double>::max());
}

double callers_bound(double bound, double norm, int shift) {
  if (shift == 0) return bound;
  if (!(std::ldexp(norm, -shift) <= std::numeric_limits<double>::max())) return HUGE_VAL;
  return std::nextafter(std::ldexp(bound, -shift), HUGE_VAL) + std::numeric_limits<double>::denorm_min();
}

Vanished vanished(sxt_value_type type, double rows, int shift, bool copied) {
  const bool single = is_single(type);
  const double lost = single ? 0x1p-131 : copied ? 0x1p-972 : 0x1p-49;
  return {rows * rows * lost, shift < 0 ? rows * (single ? 0x1p-148 : 0x1p-1073) : 0};
}

}  // namespace sextant
