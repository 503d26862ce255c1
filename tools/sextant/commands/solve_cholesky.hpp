// SPDX-License-Identifier: BSD-3-Clause
// sextant solve by a Cholesky factorisation: analysis, factorisation, refined solve.
#pragma once

#include "commands/solve_report.hpp"
#include "input/handle.hpp"
#include "input/matrix_input.hpp"

namespace tool {

// Throws ToolError.
Analysis analyse(sxt_context *context, const LoadedMatrix &matrix, const SolveOptions &options);
sxt_analysis_info about(sxt_context *context, const Analysis &analysis);
// Solves A x = b, writes and reports x; the exit code. comparison: with conjugate gradients, for the report; null: none
// was made. Throws ToolError.
int solve_by_cholesky(sxt_context *context, const LoadedMatrix &matrix, const Analysis &analysis, const HostVector &b,
                      const SolveOptions &options, const Json &comparison);

}  // namespace tool
