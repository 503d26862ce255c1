// SPDX-License-Identifier: BSD-3-Clause
// Options of commands that set up and run a solve: the choices left to the model, and when it stops.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

#include "input/handle.hpp"
#include "input/setup_options.hpp"

namespace tool {

struct SolverOptions {
  std::string format = "auto", preconditioner = "auto", recurrence = "auto", engine;
  double rtol = -1, atol = 0, time_limit = 0;
  std::int64_t max_iterations = 0;
  SetupOptions setup;

  // What the library takes where none is stated, for the types that files have.
  double relative_tolerance() const { return rtol < 0 ? 1e-8 : rtol; }
};

// --format, --precond, --recurrence, --engine; the set-up's own options are added apart.
void add_choices(CLI::App &app, SolverOptions &options, const std::string &group);
// --rtol, --atol, --max-iterations, --time-limit
void add_stopping(CLI::App &app, SolverOptions &options, const std::string &group);
Pcg make_solver(sxt_context *context, sxt_matrix *matrix, const SolverOptions &options);

}  // namespace tool
