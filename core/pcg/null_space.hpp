// SPDX-License-Identifier: BSD-3-Clause
// Vectors that A turns into 0, where the caller knows some: kept orthonormal, to be taken out of right-hand sides and
// of answers. Conjugate gradients on the rest of the space see a definite matrix (Kaasschieter 1988).
#pragma once

#include <cstdint>

#include "core/base/memory.hpp"
#include "core/device/device.hpp"
#include "core/matrix/matrix.hpp"
#include "core/operations/operations.hpp"

namespace sextant {

class NullSpace {
 public:
  static constexpr std::int64_t most_vectors = 32;

  NullSpace() = default;
  // vectors: host memory, n values of the matrix's type each, one after the other; NULL: one of equal values. Throws
  // SXT_E_ARGUMENT, SXT_E_NOT_FINITE naming the vector.
  NullSpace(Matrix &matrix, const void *vectors, std::int64_t count);

  bool empty() const noexcept { return count_ == 0; }
  std::int64_t count() const noexcept { return count_; }
  // Throws SXT_E_ARGUMENT when these values turn one of the vectors into something else than 0.
  void check(const CsrArrays &csr) const;
  // Takes the part that lies in the null space out of n values in device space.
  void remove_from(Operations &operations, void *vector) const;

 private:
  std::int64_t n_ = 0, count_ = 0;
  sxt_value_type type_ = SXT_F64;
  Buffer vectors_;        // host
  DeviceBuffer reached_;  // the same where kernels read it
};

}  // namespace sextant
