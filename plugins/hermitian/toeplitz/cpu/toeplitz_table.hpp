// SPDX-License-Identifier: BSD-3-Clause
// The interface between the plugin and the code of each instruction set: one Toeplitz system, all of it in double
// precision, real and imaginary parts apart.
#pragma once

#include <stdint.h>

namespace sextant_hermitian_toeplitz {

// A vector; im is not used in real systems.
struct Parts {
  double *re, *im;
};

struct System {
  int64_t n;
  bool definite;   // a pivot that is not positive ends the recursion
  Parts t;         // the first column
  Parts backward;  // the same from its end: entry i is t[n - 1 - i]
  Parts f;         // solution of T f = e (1, 0, ..., 0) with f[0] = 1
  Parts g;         // n + 1 places; after the recursion entry j > 0 is conj f[n - j], entry 0 is 0
  double e;
  Parts y;  // work space
};

// Durbin's recursion for f and e; false when it breaks down.
typedef bool (*Recur)(System &);
// x = T^-1 b by the formula of Gohberg and Semencul.
typedef void (*Apply)(const System &, Parts b, Parts x);
// r = b - T x.
typedef void (*Residual)(const System &, Parts b, Parts x, Parts r);

struct Functions {
  Recur recur;
  Apply apply;
  Residual residual;
};
struct Table {
  Functions of[2];  // real, complex
};

}  // namespace sextant_hermitian_toeplitz
