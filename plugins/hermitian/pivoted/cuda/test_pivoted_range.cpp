// SPDX-License-Identifier: BSD-3-Clause
// The pivots that hermitian.pivoted.cuda and hermitian.pivoted_tile.cuda accept are those whose inverse is finite, as
// on a CPU.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "pivoted_range.hpp"

namespace sextant::hermitian_pivoted {
namespace {

template <class R>
void compare_with_quotients() {
  using Limits = std::numeric_limits<R>;
  const R edge = 1 / std::ldexp(Limits::max(), -1) / 2;  // the largest whose inverse is infinite, or the next number
  R below = edge, above = edge;
  for (int i = 0; i < 100; ++i, below = std::nextafter(below, R(0)), above = std::nextafter(above, R(1)))
    for (const R pivot : {below, above, -below, -above})
      EXPECT_EQ(has_inverse(pivot), std::isfinite(1 / pivot)) << std::hexfloat << pivot;
  for (const R pivot : {R(0), Limits::denorm_min(), Limits::min(), R(1), Limits::max()}) {
    EXPECT_EQ(has_inverse(pivot), std::isfinite(1 / pivot)) << std::hexfloat << pivot;
    EXPECT_EQ(has_inverse(-pivot), std::isfinite(1 / pivot)) << std::hexfloat << -pivot;
  }
}

TEST(PivotedRange, OfF64) { compare_with_quotients<double>(); }
TEST(PivotedRange, OfF32) { compare_with_quotients<float>(); }

}  // namespace
}  // namespace sextant::hermitian_pivoted
