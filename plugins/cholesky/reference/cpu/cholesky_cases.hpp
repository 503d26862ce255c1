// SPDX-License-Identifier: BSD-3-Clause
// Sparse Cholesky factorisations as conformance cases: what one looks like, and the arrays it lies in.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "plugins/cholesky/shared/structure.hpp"
#include "sextant/sdk/cases.hpp"

namespace sextant_cholesky {

using namespace sextant::plugin::cases;

enum class Look { random, grid, arrow, dense, diagonal, chain, blocks };
enum class Flaw { none, not_definite, not_finite, small_pivot };

// One line of the table of cases. A flaw is in the first set alone.
struct Shape {
  Look look;
  std::int64_t n;
  std::int32_t phase;
  std::int32_t factors = SXT_FACTORS_LLH;
  std::int64_t n_rhs = 1, n_sets = 1, amalgamation = 0, n_schur = 0;
  Flaw flaw = Flaw::none;
  std::int32_t policy = SXT_PIVOT_POLICY_FAIL;
  bool half = false;  // values of half the precision
};

struct Case {
  Shape shape{};
  sxt_value_type type{}, type_a{};
  LowerPattern pattern;
  Matrix matrix;  // with A's pattern, for what a composed kernel may ask about it; values are in the arguments
  std::unique_ptr<Structure> structure;
  Array values, factor, b, inverse, pivots_told;
  std::vector<std::int64_t> failed_column, changed, pivots;
  std::vector<double> failed_pivot;
  sxt_cholesky_query query{};
  sxt_cholesky_args args{};
  Moved moved;
  std::string description;
};

void make(const Shape &shape, sxt_value_type type, Random &random, Case &out);

}  // namespace sextant_cholesky
