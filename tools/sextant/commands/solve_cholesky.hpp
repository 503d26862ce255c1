// SPDX-License-Identifier: BSD-3-Clause
// sextant solve --method cholesky: analysis, factorisation, refined solve.
#pragma once

#include <string>

#include "input/matrix_input.hpp"

namespace tool {

struct CholeskyRequest {
  std::string order = "auto", scheduler;  // scheduler: "" lets the model choose
  double rtol = -1;                       // negative: as close as the type allows
  double symmetry_tolerance = 0, expected_solves = 1;
  bool assume_symmetric = false, json = false, verbose = false;
  std::string rhs;     // what b is, in words
  std::string output;  // where x goes; "": nowhere
};

// Solves A x = b, writes and reports x; the exit code. Throws ToolError.
int solve_by_cholesky(sxt_context *context, const LoadedMatrix &matrix, const HostVector &b,
                      const CholeskyRequest &request);

}  // namespace tool
