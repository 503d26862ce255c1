// SPDX-License-Identifier: BSD-3-Clause
// What a caller asks of an analysis and of the factors made with it, checked where it stands alone.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sextant/cholesky.h"

namespace sextant::cholesky {

struct Settings {
  std::string order, scheduler;           // "" : the model chooses
  std::vector<std::int32_t> permutation;  // empty: none was given
  std::vector<std::int32_t> schur_rows;   // in the caller's order
  sxt_factorization factorization = SXT_LLH;
  sxt_factor_precision precision = SXT_PRECISION_WORKING;
  sxt_pivot_policy pivot_policy = SXT_PIVOT_FAIL;
  double pivot_tolerance = 0, pivot_value = 0;
  std::int64_t amalgamation = 0, block = 0;  // 0: the model chooses
  double expected_factors = 1, expected_solves = 1;
  std::int64_t expected_rhs = 1;
  double symmetry_tolerance = 0;
  bool check_symmetry = true;
  std::uint64_t memory_limit = 0;
  bool recorded = true;  // the choices go into the context's plan
};

// What a factor in single precision cannot serve with these settings; "": nothing.
std::string why_not_single(const Settings &settings);

// Throws SXT_E_ARGUMENT, naming the option, for numbers without a meaning. n: rows of the matrix.
void check(const Settings &settings, std::int64_t n);

// The caller's list as numbers from 0: distinct rows below n. Throws SXT_E_ARGUMENT with the position of one that is
// not; `all`: it has to be a permutation.
std::vector<std::int32_t> rows_of(const std::int64_t *rows, std::int64_t count, std::int64_t n, std::int64_t base,
                                  const char *name, bool all);

}  // namespace sextant::cholesky
