// SPDX-License-Identifier: BSD-3-Clause
// Powers of two that bring a system near 1, where squares of its numbers would leave the range of the type. They change
// no digit. Functions of their arguments.
#pragma once

#include <cmath>
#include <cstdint>

#include "core/operations/operations.hpp"

namespace sextant {

// A power of two, in two factors: either alone may lie beyond the range.
template <class Real>
struct Power {
  explicit Power(int exponent)
      : first(std::ldexp(Real{1}, exponent / 2)), second(std::ldexp(Real{1}, exponent - exponent / 2)) {}
  template <class T>
  T operator()(T value) const {
    return value * first * second;
  }
  Real first, second;
};

// Whether squares of residuals of a b of this size keep their digits, down to any tolerance. False for NaN.
bool is_near(sxt_value_type type, double size);
// A power of two in this range and its inverse are normal numbers.
int furthest_exponent(sxt_value_type type);
// The power that brings a b of this size near 1; 0 where it is near, 0, or not finite.
int shift_near(sxt_value_type type, double size);
// vector *= 2^by, exactly where the result is a normal number.
void shift_by(Operations &operations, sxt_value_type type, std::int64_t n, void *vector, int by);

// Norms of a system whose b is 2^shift times the caller's, in the caller's scale: the largest number where the caller's
// is larger. And a bound of one, rounded upwards with what that may have lost; where the norm leaves the range nothing
// bounds it.
double callers_norm(double norm, int shift);
double callers_bound(double bound, double norm, int shift);
// What the bounds of |b - A x| and |b| grow by where b or x were scaled down for them. In f64 numbers that vanish lose
// at most 2^-1075 each, times entries of A below 2^1024: nothing beside a b whose greatest entry is near 2^300. In f32
// they lose 2^-150, and no entry of a definite A is beyond 2^17, nor beyond 2^101 in f64, where a copy of it was taken
// in (exponent_near).
struct Vanished {
  double bound, rhs_bound;
};
Vanished vanished(sxt_value_type type, double rows, int shift, bool copied);
// An absolute tolerance that was scaled with b and has lost digits is none.
inline double atol_after_shift(double atol) { return atol < 0x1p-1000 ? 0 : atol; }
// A guess that was brought to the scale of a solve and has a residual so many times b is worse than 0.
inline constexpr double worst_guess = 0x1p20;

}  // namespace sextant
