// SPDX-License-Identifier: BSD-3-Clause
// How far mirror images may lie apart and still count as one number: what rounding leaves where a matrix is assembled
// in floating point. The same rule serves the set-up of solvers, assembly, new values and files.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.hpp"
#include "core/base/types.hpp"

namespace sextant {

class SymmetryTolerance {
 public:
  // Sums of n products that are taken in two orders part by about 0.4 sqrt(n) units of rounding.
  static constexpr double units = 256;

  // asked: as options say; 0 for what rounding explains.
  SymmetryTolerance(double asked, sxt_value_type type) {
    // Written so that NaN fails.
    require(asked >= 0 && std::isfinite(asked), SXT_E_ARGUMENT, "symmetry_tolerance is ", asked,
            "; it must be finite and not negative");
    const bool single = type == SXT_F32 || type == SXT_C64;
    unit_ = single ? double{std::numeric_limits<float>::epsilon()} : std::numeric_limits<double>::epsilon();
    relative_ = asked > 0 ? asked : units * unit_;
    if (asked > 0) return;
    row_ = unit_;
    least_ =
        4 * (single ? double{std::numeric_limits<float>::denorm_min()} : std::numeric_limits<double>::denorm_min());
  }

  // difference: |a_ij - conj(a_ji)|. scale: sqrt(a_ii a_jj), the most that an entry of a positive definite matrix can
  // be, or an entry that is more. row: the lesser of the sums of magnitudes in rows i and j: a product with A rounds by
  // a unit of them in any case.
  bool allows(double difference, double scale, double row) const {
    return difference <= relative_ * scale || (row_ > 0 && (difference <= row_ * row || difference <= least_));
  }
  double relative() const { return relative_; }

 private:
  double unit_ = 0, relative_ = 0, row_ = 0, least_ = 0;
};

// With as many digits as tell the number from its neighbours: two that differ are never printed alike.
template <class T>
std::string all_digits(T value) {
  std::ostringstream out;
  out.imbue(std::locale::classic());
  out.precision(std::numeric_limits<decltype(std::abs(T{}))>::max_digits10);
  out << value;
  return std::move(out).str();
}

}  // namespace sextant
