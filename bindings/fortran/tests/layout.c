/* SPDX-License-Identifier: BSD-3-Clause */
/* What C says about the structs that sextant_c.f90 and sextant_hermitian_c.f90 repeat: size and the offset of each member of the same order. */
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
    MEMBER(sxt_matrix_options, keep_order), MEMBER(sxt_matrix_options, check_finite),
    MEMBER(sxt_matrix_options, symmetry_tolerance)};
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
    MEMBER(sxt_pcg_options, probe), MEMBER(sxt_pcg_options, reorder), MEMBER(sxt_pcg_options, null_space),
    MEMBER(sxt_pcg_options, null_space_size), MEMBER(sxt_pcg_options, symmetry_tolerance)};
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
    MEMBER(sxt_pcg_report, probe_seconds), MEMBER(sxt_pcg_report, launches),
    MEMBER(sxt_pcg_report, null_space_norm), MEMBER(sxt_pcg_report, iteration_seconds),
    MEMBER(sxt_pcg_report, residual_seconds), MEMBER(sxt_pcg_report, predicted_iteration_seconds),
    MEMBER(sxt_pcg_report, predicted_residual_seconds)};
static const size_t hermitian_options[] = {
    sizeof(sxt_hermitian_options), MEMBER(sxt_hermitian_options, value_type), MEMBER(sxt_hermitian_options, triangle),
    MEMBER(sxt_hermitian_options, definiteness), MEMBER(sxt_hermitian_options, space),
    MEMBER(sxt_hermitian_options, batch), MEMBER(sxt_hermitian_options, n), MEMBER(sxt_hermitian_options, orders),
    MEMBER(sxt_hermitian_options, n_rhs), MEMBER(sxt_hermitian_options, pointer_array),
    MEMBER(sxt_hermitian_options, leading_vary), MEMBER(sxt_hermitian_options, equilibrate),
    MEMBER(sxt_hermitian_options, refine_steps), MEMBER(sxt_hermitian_options, refine_tolerance),
    MEMBER(sxt_hermitian_options, shifts), MEMBER(sxt_hermitian_options, n_shifts),
    MEMBER(sxt_hermitian_options, shift_relative), MEMBER(sxt_hermitian_options, may_spoil),
    MEMBER(sxt_hermitian_options, workspace_limit), MEMBER(sxt_hermitian_options, expected_runs),
    MEMBER(sxt_hermitian_options, kernel), MEMBER(sxt_hermitian_options, shortcuts),
    MEMBER(sxt_hermitian_options, reserved0)};
static const size_t hermitian_set[] = {
    sizeof(sxt_hermitian_set), MEMBER(sxt_hermitian_set, a), MEMBER(sxt_hermitian_set, lda),
    MEMBER(sxt_hermitian_set, stride_a), MEMBER(sxt_hermitian_set, a_array), MEMBER(sxt_hermitian_set, lda_each),
    MEMBER(sxt_hermitian_set, factor), MEMBER(sxt_hermitian_set, factor_array), MEMBER(sxt_hermitian_set, b),
    MEMBER(sxt_hermitian_set, ldb), MEMBER(sxt_hermitian_set, stride_b), MEMBER(sxt_hermitian_set, b_array),
    MEMBER(sxt_hermitian_set, ldb_each), MEMBER(sxt_hermitian_set, x), MEMBER(sxt_hermitian_set, x_array),
    MEMBER(sxt_hermitian_set, n_rhs), MEMBER(sxt_hermitian_set, active), MEMBER(sxt_hermitian_set, active_out),
    MEMBER(sxt_hermitian_set, info), MEMBER(sxt_hermitian_set, pivots), MEMBER(sxt_hermitian_set, stride_pivots),
    MEMBER(sxt_hermitian_set, scale), MEMBER(sxt_hermitian_set, residual), MEMBER(sxt_hermitian_set, rcond),
    MEMBER(sxt_hermitian_set, shift), MEMBER(sxt_hermitian_set, inertia), MEMBER(sxt_hermitian_set, stream),
    MEMBER(sxt_hermitian_set, shortcut)};
static const size_t hermitian_report[] = {
    sizeof(sxt_hermitian_report), MEMBER(sxt_hermitian_report, factor_kernel),
    MEMBER(sxt_hermitian_report, solve_kernel), MEMBER(sxt_hermitian_report, factor_solve_kernel),
    MEMBER(sxt_hermitian_report, pivoting_kernel), MEMBER(sxt_hermitian_report, predicted_factor_s),
    MEMBER(sxt_hermitian_report, predicted_solve_s), MEMBER(sxt_hermitian_report, predicted_factor_solve_s),
    MEMBER(sxt_hermitian_report, workspace_bytes), MEMBER(sxt_hermitian_report, piece),
    MEMBER(sxt_hermitian_report, flops), MEMBER(sxt_hermitian_report, kernel_bytes),
    MEMBER(sxt_hermitian_report, toeplitz_kernel), MEMBER(sxt_hermitian_report, mixed_kernel),
    MEMBER(sxt_hermitian_report, butterfly_kernel)};

/* Entry i of one table: 0 is the size, i the offset of member i + 1; -1 beyond the last. */
int64_t layout_of(int32_t table, int32_t i) {
  static const struct {
    const size_t *entries;
    size_t count;
  } tables[] = {{context, sizeof context / sizeof *context}, {matrix, sizeof matrix / sizeof *matrix},
                {info, sizeof info / sizeof *info},          {pcg, sizeof pcg / sizeof *pcg},
                {solve, sizeof solve / sizeof *solve},       {report, sizeof report / sizeof *report},
                {hermitian_options, sizeof hermitian_options / sizeof *hermitian_options},
                {hermitian_set, sizeof hermitian_set / sizeof *hermitian_set},
                {hermitian_report, sizeof hermitian_report / sizeof *hermitian_report}};
  if ((size_t)i >= tables[table].count) return -1;
  return (int64_t)tables[table].entries[i];
}
