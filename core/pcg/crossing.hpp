// SPDX-License-Identifier: BSD-3-Clause
// Vectors on their way between the caller and the system that an engine sees, S P A P^T S: into its order (P) and its
// scale (S), and back. Where neither is another than the caller's they are copied.
#pragma once

#include <cstdint>

#include "core/operations/operations.hpp"

namespace sextant {

class Crossing {
 public:
  // scaling: n numbers of the real type, or NULL; index: the caller's number of each row of the system, or NULL. Both
  // in device space, as all vectors.
  Crossing(Operations &operations, sxt_value_type type, std::int64_t n, const void *scaling, const void *index,
           sxt_index_type index_type)
      : operations_(operations), type_(type), n_(n), scaling_(scaling), index_(index), index_type_(index_type) {}

  bool orders() const { return index_ != nullptr; }
  // S P b, and S^-1 P x of a guess. from may be to where nothing is ordered.
  void take_in_rhs(const void *from, void *to) const { take_in(SXT_VECTOR_REAL_MULTIPLY, from, to); }
  void take_in_guess(const void *from, void *to) const { take_in(SXT_VECTOR_REAL_DIVIDE, from, to); }
  // S x, and then P^T of that where the order is another.
  void unscale(const void *from, void *to) const { scale(SXT_VECTOR_REAL_MULTIPLY, from, to); }
  void put_back(const void *from, void *to) const { move(SXT_VECTOR_SCATTER, from, to); }
  void copy(const void *from, void *to) const {
    operations_.vector({.operation = SXT_VECTOR_COPY, .type = type_, .n = n_, .x = from, .y = to});
  }

 private:
  void take_in(std::int32_t operation, const void *from, void *to) const {
    if (orders()) move(SXT_VECTOR_GATHER, from, to);
    scale(operation, orders() ? to : from, to);
  }
  void scale(std::int32_t operation, const void *from, void *to) const {
    if (scaling_)
      operations_.vector(
          {.operation = operation, .type = type_, .n = n_, .x = scaling_, .y = const_cast<void *>(from), .z = to});
    else if (from != to)
      copy(from, to);
  }
  void move(std::int32_t operation, const void *from, void *to) const {
    operations_.vector({.operation = operation,
                        .type = type_,
                        .n = n_,
                        .x = from,
                        .y = to,
                        .index = index_,
                        .index_type = index_type_});
  }

  Operations &operations_;
  sxt_value_type type_;
  std::int64_t n_;
  const void *scaling_, *index_;
  sxt_index_type index_type_;
};

}  // namespace sextant
