// SPDX-License-Identifier: BSD-3-Clause
// A's values for a factor in single precision: S A S, S a diagonal of powers of two near 1 / sqrt|a_ii|, so that
// numbers of any size fit, pivots are near 1, and nothing but the rounding to single precision is lost.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/memory.hpp"
#include "core/matrix/assemble.hpp"

namespace sextant::cholesky {

class SingleValues {
 public:
  static constexpr std::uint64_t bytes_a_row = 18;  // beside the values

  // Takes the memory; the pattern is that of all values to come.
  SingleValues(const CsrArrays &pattern, const Allocator &allocator);
  // Scales and rounds values of f64 or c128. False where single precision cannot hold them: a value is not finite, a
  // diagonal entry is not there, zero, or smaller than the largest by more than 38 decades, or another value is larger
  // than the diagonal of its row and column allows. Allocates nothing.
  bool take(const CsrArrays &matrix, int threads);

  const void *values() const noexcept { return values_.data(); }
  std::uint64_t bytes() const noexcept { return values_.bytes(); }
  // S = 2^largest() scale().
  const std::vector<double> &scale() const noexcept { return scale_; }
  int largest() const noexcept { return largest_; }
  int spread() const noexcept { return largest_ - least_; }  // powers of two between the least and the largest number
  int exponent(std::int64_t i) const noexcept { return exponents_[static_cast<std::size_t>(i)]; }  // of S's number i

 private:
  bool find_scale(const CsrArrays &matrix);
  Buffer values_;
  std::vector<std::int64_t> diagonal_;  // places of a_ii; -1: there is none
  std::vector<double> scale_;
  std::vector<std::int16_t> exponents_;
  int least_ = 0, largest_ = 0;
};

}  // namespace sextant::cholesky
