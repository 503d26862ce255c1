// SPDX-License-Identifier: BSD-3-Clause
// Groups of dense operations as conformance cases: what one looks like, and the arrays it lies in.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sextant/sdk/cases.hpp"
#include "sextant/sdk/dense.hpp"

namespace sextant_dense {

using namespace sextant::plugin::cases;

enum class Flaw { none, not_definite, not_finite, small_pivot };

// One line of the table of cases. Sizes vary from item to item below the largest, which the last item has.
struct Shape {
  std::int32_t operation;
  std::int64_t count, m, n, k, padding;
  bool unit = false;
  std::int32_t policy = SXT_PIVOT_POLICY_FAIL;
  Flaw flaw = Flaw::none;
  bool weighted = false;  // with a D of both signs
};

// The matrices of one role: where each lies in an array, and how large it is.
struct Matrices {
  std::vector<std::int64_t> rows, cols, ld, at;
  std::vector<void *> pointers;
  Array values;
  bool empty() const { return at.empty(); }
  Wide at_entry(std::size_t g, std::int64_t i, std::int64_t j) const { return values.at(at[g] + i + j * ld[g]); }
};

struct Case {
  Shape shape{};
  sxt_value_type type{};
  std::vector<std::int32_t> m, n, k, info;
  Matrices a, b, c, d;  // d: a row an item
  std::vector<std::int64_t> marks_at;
  std::vector<std::uint8_t> marks;
  std::vector<std::uint8_t *> marks_pointers;
  sxt_dense_query query{};
  sxt_dense_args args{};
  Moved moved;
  std::string description;

  // The matrices that the operation writes.
  Matrices &result() { return factors(shape.operation) ? a : !c.empty() ? c : b; }
  bool lower_result() const {
    return factors(shape.operation) || shape.operation == SXT_DENSE_SYRK || shape.operation == SXT_DENSE_GEMMT;
  }
  void set_pointers();
};

void make(const Shape &shape, sxt_value_type type, Random &random, Case &out);

}  // namespace sextant_dense
