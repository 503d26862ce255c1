// SPDX-License-Identifier: BSD-3-Clause
// sextant solve --method auto: conjugate gradients or a direct solve, by predicted time.
#pragma once

#include "commands/solve_report.hpp"
#include "input/handle.hpp"

namespace tool {

// The first option given that only conjugate gradients have, and which settles the method; "": none.
std::string option_of_pcg(const SolveOptions &options);

struct Comparison {
  Analysis analysis;  // of the direct solve that is to be made; NULL: conjugate gradients
  Json about;  // {"chosen", "why", "pcg_seconds", "cholesky_seconds", "cholesky_bytes"}; null: only one method serves
};

// pcg: set up for the matrix; an analysis is made only where the solves are predicted to take longer than that.
Comparison compare_methods(sxt_context *context, const LoadedMatrix &matrix, const sxt_pcg *pcg,
                           const SolveOptions &options);
// Where the direct solve failed after all: conjugate gradients instead.
Json after_failure(Json about, const ToolError &error);
// Whether conjugate gradients may do what the factorisation could not.
bool leaves_pcg(sxt_status status);

}  // namespace tool
