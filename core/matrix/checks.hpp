// SPDX-License-Identifier: BSD-3-Clause
// What solvers demand of a matrix, as far as it can be seen without solving. Functions of their arguments:
// any number of threads may call them at once.
#pragma once

#include <string>

#include "core/matrix/matrix.hpp"

namespace sextant {

class SymmetryTolerance;

// Throws SXT_E_NOT_SYMMETRIC naming an entry whose mirror image is missing or differs by more than is allowed, and
// SXT_E_NOT_FINITE naming one that is NaN or infinite where that is met. True when none differs at all. work: memory
// that it needs on few threads; kept, or reserved before, it asks for no more unless images differ.
void reserve_for_check(const CsrArrays &csr, int threads, Buffer &work);  // throws SXT_E_MEMORY
// "" where every entry equals its mirror image, as the symmetry has it, to the last bit; else the first that does not,
// with both values.
std::string unequal_image(const CsrArrays &csr, sxt_symmetry symmetry, int threads);
bool check_hermitian(const CsrArrays &csr, int threads, Buffer &work, const SymmetryTolerance &tolerance);
// The least and the greatest entry of the diagonal. real: none has an imaginary part, not even one that is rounding.
struct DiagonalRange {
  double least = 1, greatest = 1;
  bool real = true;
  // 1: the diagonal is constant, so that scaling by it changes nothing.
  double ratio() const { return greatest / least; }
};
// Throws SXT_E_DIAGONAL naming the first row whose diagonal is missing, not positive, or not real but for rounding.
DiagonalRange check_diagonal(const CsrArrays &csr, int threads, const SymmetryTolerance &tolerance);

}  // namespace sextant
