/* SPDX-License-Identifier: BSD-3-Clause */
/* What C says about the structs that sextant_c.f90 repeats: size and the offset of each member of the same order. */
#include "sextant/sextant.h"

#define MEMBER(type, member) offsetof(type, member)

static const size_t context[] = {
    sizeof(sxt_context_options), MEMBER(sxt_context_options, device), MEMBER(sxt_context_options, device_ordinal),
    MEMBER(sxt_context_options, threads), MEMBER(sxt_context_options, profile_path),
    MEMBER(sxt_context_options, plugin_paths), MEMBER(sxt_context_options, n_plugin_paths),
    MEMBER(sxt_context_options, log), MEMBER(sxt_context_options, log_user), MEMBER(sxt_context_options, log_level),
    MEMBER(sxt_context_options, deterministic), MEMBER(sxt_context_options, allocate),
    MEMBER(sxt_context_options, release), MEMBER(sxt_context_options, allocator_user)};
static const size_t matrix[] = {
    sizeof(sxt_matrix_options), MEMBER(sxt_matrix_options, value_type), MEMBER(sxt_matrix_options, index_type),
    MEMBER(sxt_matrix_options, offset_type), MEMBER(sxt_matrix_options, index_base),
    MEMBER(sxt_matrix_options, symmetry), MEMBER(sxt_matrix_options, triangle),
    MEMBER(sxt_matrix_options, duplicates), MEMBER(sxt_matrix_options, ownership),
    MEMBER(sxt_matrix_options, keep_order), MEMBER(sxt_matrix_options, check_finite)};
static const size_t info[] = {
    sizeof(sxt_matrix_info), MEMBER(sxt_matrix_info, rows), MEMBER(sxt_matrix_info, cols),
    MEMBER(sxt_matrix_info, nnz), MEMBER(sxt_matrix_info, value_type), MEMBER(sxt_matrix_info, index_type),
    MEMBER(sxt_matrix_info, offset_type), MEMBER(sxt_matrix_info, symmetry), MEMBER(sxt_matrix_info, bytes)};
static const size_t pcg[] = {
    sizeof(sxt_pcg_options), MEMBER(sxt_pcg_options, preconditioner), MEMBER(sxt_pcg_options, recurrence),
    MEMBER(sxt_pcg_options, engine), MEMBER(sxt_pcg_options, format), MEMBER(sxt_pcg_options, rtol),
    MEMBER(sxt_pcg_options, atol), MEMBER(sxt_pcg_options, norm), MEMBER(sxt_pcg_options, check_symmetry),
    MEMBER(sxt_pcg_options, max_iterations), MEMBER(sxt_pcg_options, divergence_limit),
    MEMBER(sxt_pcg_options, stagnation_window), MEMBER(sxt_pcg_options, time_limit),
    MEMBER(sxt_pcg_options, expected_solves), MEMBER(sxt_pcg_options, expected_iterations),
    MEMBER(sxt_pcg_options, probe), MEMBER(sxt_pcg_options, reorder)};
static const size_t solve[] = {
    sizeof(sxt_solve_options), MEMBER(sxt_solve_options, use_initial_guess), MEMBER(sxt_solve_options, reserved0),
    MEMBER(sxt_solve_options, rtol), MEMBER(sxt_solve_options, atol), MEMBER(sxt_solve_options, max_iterations),
    MEMBER(sxt_solve_options, time_limit), MEMBER(sxt_solve_options, progress),
    MEMBER(sxt_solve_options, progress_user), MEMBER(sxt_solve_options, cancel), MEMBER(sxt_solve_options, history),
    MEMBER(sxt_solve_options, history_capacity), MEMBER(sxt_solve_options, history_length)};
static const size_t report[] = {
    sizeof(sxt_pcg_report), MEMBER(sxt_pcg_report, reason), MEMBER(sxt_pcg_report, reserved0),
    MEMBER(sxt_pcg_report, iterations), MEMBER(sxt_pcg_report, rhs_norm), MEMBER(sxt_pcg_report, residual_norm),
    MEMBER(sxt_pcg_report, true_relative_residual), MEMBER(sxt_pcg_report, recursive_residual),
    MEMBER(sxt_pcg_report, confirmations), MEMBER(sxt_pcg_report, replacements), MEMBER(sxt_pcg_report, products),
    MEMBER(sxt_pcg_report, reductions), MEMBER(sxt_pcg_report, setup_seconds), MEMBER(sxt_pcg_report, solve_seconds),
    MEMBER(sxt_pcg_report, predicted_setup_seconds), MEMBER(sxt_pcg_report, predicted_solve_seconds),
    MEMBER(sxt_pcg_report, predicted_iterations), MEMBER(sxt_pcg_report, probe_iterations),
    MEMBER(sxt_pcg_report, probe_seconds), MEMBER(sxt_pcg_report, launches)};

/* Entry i of one table: 0 is the size, i the offset of member i + 1; -1 beyond the last. */
int64_t layout_of(int32_t table, int32_t i) {
  static const struct {
    const size_t *entries;
    size_t count;
  } tables[] = {{context, sizeof context / sizeof *context}, {matrix, sizeof matrix / sizeof *matrix},
                {info, sizeof info / sizeof *info},          {pcg, sizeof pcg / sizeof *pcg},
                {solve, sizeof solve / sizeof *solve},       {report, sizeof report / sizeof *report}};
  if ((size_t)i >= tables[table].count) return -1;
  return (int64_t)tables[table].entries[i];
}
