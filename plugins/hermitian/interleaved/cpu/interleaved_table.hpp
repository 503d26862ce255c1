// SPDX-License-Identifier: BSD-3-Clause
// The interface between the plugin and the code of each instruction set: one group of systems, a lane each.
#pragma once

#include <stdint.h>

namespace sextant_hermitian_interleaved {

constexpr int most_lanes = 16;
constexpr int64_t rows = 4;  // of a block of the packed triangle

// As many systems as a vector has lanes. Lanes without a system repeat another lane's and are not written.
struct Group {
  void *a[most_lanes], *b[most_lanes];
  int64_t lda[most_lanes], ldb[most_lanes];
  bool write[most_lanes];
  int32_t info[most_lanes];  // of systems that are factored, as definite_verdict() takes it
  int64_t n, n_rhs;
  bool upper, factors, solves;
  void *scratch;  // vectors_of(n, parts) vectors, aligned to them
};

// The packed triangle, the inverse diagonal and one right-hand side. parts: 2 for complex numbers.
inline int64_t triangle_vectors(int64_t n, int parts) {
  const int64_t blocks = (n + rows - 1) / rows;
  return rows * rows / 2 * blocks * (blocks + 1) * parts;
}
inline int64_t vectors_of(int64_t n, int parts) {
  const int64_t padded = (n + rows - 1) / rows * rows;
  return triangle_vectors(n, parts) + padded + padded * parts;
}

typedef void (*Function)(Group &);
struct Table {
  int lanes[4];  // f32, f64, c64, c128
  Function work[4];
};

}  // namespace sextant_hermitian_interleaved
