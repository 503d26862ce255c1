// SPDX-License-Identifier: BSD-3-Clause
// The matrix as a set-up takes it in. The caller's own where that will do. Else a copy of its values on the same
// pattern: times a power of two, where they lie so far from 1 that squares would leave the range of the type; and the
// mean of A and its transpose, where rounding has made the two differ. Everything that follows, true residuals too, is
// about that matrix.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/matrix/checks.hpp"
#include "core/matrix/matrix.hpp"
#include "core/pcg/settings.hpp"

namespace sextant {

// Sentences for an explanation, in the order in which things were decided.
using Notes = std::vector<std::string>;

// What the caller's values ask for.
struct Looked {
  bool averaged = false;      // A differs from its transpose by rounding
  bool made_real = false;     // the diagonal has imaginary parts that are rounding
  int exponent = 0;           // the power of two that brings A near 1
  double diagonal_ratio = 1;  // the greatest entry of the diagonal over the least

  bool wants_copy() const { return exponent != 0 || averaged || made_real; }
};

// Looks at the caller's values, as often as there are new ones. PcgSolver's; one call at a time.
class ValueLook {
 public:
  // Both must outlive the object.
  ValueLook(const Matrix &callers, const PcgSettings &settings) : callers_(callers), settings_(settings) {}
  // Throws the statuses of check_hermitian and check_diagonal.
  Looked look();
  // Whether entries are compared with their mirror images.
  bool compares() const;
  // Predicted seconds of a look.
  double seconds() const;
  // Memory of the comparison is kept for the next one only where there will be one.
  void forget_needless() {
    if (!compares()) work_ = Buffer();
  }

 private:
  const Matrix &callers_;
  const PcgSettings &settings_;
  Buffer work_;
};

// Any thread may read it; take_new_values wants it for itself.
class TakenIn {
 public:
  // compared: the look found every entry equal to its mirror image, or near it. Throws SXT_E_MEMORY.
  TakenIn(std::shared_ptr<Matrix> callers, const Looked &looked, bool compared);

  Matrix &matrix() const noexcept { return *matrix_; }
  const std::shared_ptr<Matrix> &shared() const noexcept { return matrix_; }
  Matrix &callers() const noexcept { return *callers_; }
  bool copied() const noexcept { return matrix_ != callers_; }
  sxt_symmetry symmetry() const noexcept { return symmetry_; }  // as stated, or as found
  int exponent() const noexcept { return now_.exponent; }       // matrix() is 2^this times the caller's
  // When it was taken in.
  double diagonal_ratio() const noexcept { return now_.diagonal_ratio; }
  void tell(Notes &notes) const;
  // After Matrix::update_values of the caller's, where a copy was taken in.
  void take_new_values(const Looked &now);

 private:
  std::shared_ptr<Matrix> copy() const;

  std::shared_ptr<Matrix> callers_, matrix_;
  sxt_symmetry symmetry_;
  const bool compared_;
  Looked now_;
};

// The power of two that brings a positive definite matrix near 1, so that neither squares of what it multiplies nor
// those of its entries leave the range of the type; 0 where it is near. It changes no digit.
int exponent_near(sxt_value_type type, const DiagonalRange &diagonal);

}  // namespace sextant
