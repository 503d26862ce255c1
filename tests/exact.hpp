// SPDX-License-Identifier: BSD-3-Clause
// Exact sums of products of doubles, for tests: every product is an integer times 2^-2148, so a fixed-point number of
// some 4400 bits holds any sum of them without rounding (Kulisch 1981).
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

namespace exact {

class Sum {
 public:
  // += sign a b; both finite.
  void add(double a, double b, int sign = 1) {
    if (a == 0 || b == 0) return;
    int of_a = 0, of_b = 0;  // a = m 2^of_a with a 53-bit integer m
    const auto m_a = static_cast<std::int64_t>(std::ldexp(std::frexp(a, &of_a), 53));
    const auto m_b = static_cast<std::int64_t>(std::ldexp(std::frexp(b, &of_b), 53));
    const bool negative = (m_a < 0) != (m_b < 0);
    __extension__ typedef unsigned __int128 Wide;
    Wide product = static_cast<Wide>(std::abs(m_a)) * static_cast<Wide>(std::abs(m_b));
    const int place = of_a + of_b - 106 + origin;
    const std::int64_t direction = negative == (sign > 0) ? -1 : 1;
    for (int limb = place / 32; product != 0; ++limb, product >>= 32) {
      const std::uint64_t bits = static_cast<std::uint64_t>(product & 0xffffffffu) << (place % 32);
      limbs_[limb] += direction * static_cast<std::int64_t>(bits & 0xffffffffu);
      limbs_[limb + 1] += direction * static_cast<std::int64_t>(bits >> 32);
    }
  }
  // Rounded once, to long double.
  long double value() const {
    std::array<std::int64_t, count> carried = limbs_;
    const bool negative = carry(carried);
    if (negative) {
      carried = limbs_;
      for (std::int64_t &limb : carried) limb = -limb;
      carry(carried);
    }
    long double out = 0;
    for (int limb = count - 1; limb >= 0; --limb)
      if (carried[limb] != 0) {
        for (int k = limb; k >= 0 && k > limb - 4; --k)
          out += std::ldexp(static_cast<long double>(carried[k]), 32 * k - origin);
        break;
      }
    return negative ? -out : out;
  }

 private:
  static constexpr int origin = 2304, count = 144;  // bits behind the point; limbs of 32 bits
  // Every limb but the last to 0 .. 2^32 - 1. True where the whole is negative.
  static bool carry(std::array<std::int64_t, count> &limbs) {
    for (int k = 0; k + 1 < count; ++k) {
      limbs[k + 1] += limbs[k] >> 32;
      limbs[k] &= 0xffffffff;
    }
    return limbs[count - 1] < 0;
  }
  std::array<std::int64_t, count> limbs_{};
};

}  // namespace exact
