// SPDX-License-Identifier: BSD-3-Clause
// Which pivots of order 1 a solve can divide by. Compiles as C++ and as CUDA.
#pragma once

#ifdef __CUDACC__
#define SXT_PIVOTED_BOTH __host__ __device__
#else
#define SXT_PIVOTED_BOTH
#endif

namespace sextant::hermitian_pivoted {

// Whether 1 / pivot is in the range of its type, without the quotient: up to 2^-1024, in single precision 2^-128, and
// of zero, it is infinite.
constexpr SXT_PIVOTED_BOTH bool has_inverse(double pivot) { return pivot > 0x1p-1024 || pivot < -0x1p-1024; }
constexpr SXT_PIVOTED_BOTH bool has_inverse(float pivot) { return pivot > 0x1p-128f || pivot < -0x1p-128f; }

}  // namespace sextant::hermitian_pivoted
