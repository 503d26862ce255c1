// SPDX-License-Identifier: BSD-3-Clause
#include "input/solver_options.hpp"

#include "input/numbers.hpp"

namespace tool {

void add_choices(CLI::App &app, SolverOptions &options, const std::string &group) {
  app.add_option("--format", options.format, "Storage of A: csr, coo, ...")->group(group)->capture_default_str();
  app.add_option("--precond", options.preconditioner, "none, jacobi, or what a plugin offers")
      ->group(group)
      ->capture_default_str();
  app.add_option("--recurrence", options.recurrence, "classical, chronopoulos-gear or predict-recompute")
      ->group(group)
      ->capture_default_str();
  app.add_option("--engine", options.engine, "Kernel that drives the loop: pcg.host-loop.classical.cpu, ...")
      ->group(group);
}

void add_stopping(CLI::App &app, SolverOptions &options, const std::string &group) {
  app.add_option("--rtol", options.rtol, "Stop when |b - A x| <= max(rtol |b|, atol); without it 1e-8")
      ->group(group)
      ->check(number_from_zero());
  app.add_option("--atol", options.atol, "See --rtol")->group(group)->capture_default_str();
  app.add_option("--max-iterations", options.max_iterations, "0: ten times the order, at least 1000")
      ->group(group)
      ->check(whole_number_from<std::int64_t>(0));
  app.add_option("--time-limit", options.time_limit, "Seconds of the solve; 0: none")
      ->group(group)
      ->check(number_from_zero());
}

Pcg make_solver(sxt_context *context, sxt_matrix *matrix, const SolverOptions &options) {
  sxt_pcg_options native;
  sxt_pcg_options_init(&native, sizeof native);
  native.preconditioner = options.preconditioner.c_str();
  native.recurrence = options.recurrence.c_str();
  native.engine = options.engine.empty() ? nullptr : options.engine.c_str();
  native.format = options.format.c_str();
  native.rtol = options.rtol;
  native.atol = options.atol;
  native.max_iterations = options.max_iterations;
  native.time_limit = options.time_limit;
  options.setup.apply(native);
  sxt_pcg *pcg = nullptr;
  check(sxt_pcg_create(matrix, &native, &pcg), context);
  return Pcg(pcg);
}

}  // namespace tool
