// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/cholesky.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>

#include "abi/analysis.hpp"
#include "abi/handles.hpp"
#include "abi/options.hpp"
#include "abi/overlap.hpp"
#include "abi/sized.hpp"
#include "core/base/aligned.hpp"
#include "core/cholesky/factor.hpp"
#include "core/explain/explain_model.hpp"

using namespace sextant;
using namespace sextant::abi;

struct sxt_cholesky {
  explicit sxt_cholesky(const sxt_analysis &made_from) : factor(made_from.analysis), index_base(made_from.index_base) {}
  cholesky::Factor factor;
  int index_base;
};

namespace {

std::uint64_t id_of(const sxt_cholesky *handle) { return handle ? handle->factor.analysis().context().id() : 0; }
using abi::id_of;

sxt_analysis_options analysis_defaults() {
  sxt_analysis_options options{};
  options.struct_size = sizeof options;
  options.factorization = SXT_LLH;
  options.expected_factors = options.expected_solves = 1;
  options.expected_rhs = 1;
  options.check_symmetry = 1;
  return options;
}

sxt_factor_options factor_defaults() {
  sxt_factor_options options{};
  options.struct_size = sizeof options;
  return options;
}

sxt_cholesky_solve_options cholesky_solve_defaults() {
  sxt_cholesky_solve_options options{};
  options.struct_size = sizeof options;
  return options;
}

cholesky::Settings settings_of(const sxt_analysis_options &options, const sxt_matrix &a) {
  const std::int64_t n = a.matrix->rows();
  cholesky::Settings settings;
  settings.order = name_of(options.order, "options->order");
  settings.scheduler = name_of(options.scheduler, "options->scheduler");
  settings.factorization = options.factorization;
  settings.pivot_policy = options.pivot_policy;
  settings.pivot_tolerance = options.pivot_tolerance;
  settings.pivot_value = options.pivot_value;
  settings.amalgamation = options.amalgamation;
  settings.block = options.block;
  settings.precision = options.factor_precision;
  const auto expected = [](double runs, const char *name) {
    require(std::isfinite(runs), SXT_E_ARGUMENT, name, " is not finite");
    return std::max(1.0, within_reason(runs));
  };
  settings.expected_factors = expected(options.expected_factors, "options->expected_factors");
  settings.expected_solves = expected(options.expected_solves, "options->expected_solves");
  settings.expected_rhs = options.expected_rhs;
  settings.symmetry_tolerance = options.symmetry_tolerance;
  settings.check_symmetry = switched(options.check_symmetry, "options->check_symmetry");
  settings.memory_limit = options.memory_limit;
  require(a.matrix->rows() == a.matrix->cols(), SXT_E_NOT_SQUARE, "the matrix has ", a.matrix->rows(), " rows and ",
          a.matrix->cols(), " columns");
  require(n < INT32_MAX, SXT_E_OVERFLOW, "the matrix has ", n, " rows; a factorisation takes 2^31 - 2 at most");
  if (options.permutation)
    settings.permutation = cholesky::rows_of(options.permutation, n, n, a.index_base, "options->permutation", true);
  settings.schur_rows =
      cholesky::rows_of(options.schur_rows, options.n_schur, n, a.index_base, "options->schur_rows", false);
  cholesky::check(settings, n);
  return settings;
}

// The checks of every call that takes right-hand sides, before it works.
cholesky::SolveCall call_of(const sxt_cholesky &handle, std::int64_t n, std::int64_t n_rhs, const void *b,
                            std::int64_t ldb, void *x, std::int64_t ldx, const sxt_cholesky_solve_options &options) {
  const cholesky::Analysis &analysis = handle.factor.analysis();
  const std::int64_t rows = analysis.symbolic().n, each = value_bytes(analysis.value_type());
  require(n == rows, SXT_E_DIMENSION, "b and x have ", n, " values, the matrix ", rows, " rows");
  require(n_rhs >= 0, SXT_E_ARGUMENT, "n_rhs is negative (", n_rhs, ")");
  require(n == 0 || n_rhs == 0 || (b && x), SXT_E_ARGUMENT, b ? "x" : "b", " is NULL");
  require_aligned(b, value_alignment(analysis.value_type()), "b");
  require_aligned(x, value_alignment(analysis.value_type()), "x");
  require(ldb >= n && ldx >= n, SXT_E_DIMENSION, "ldb (", ldb, ") and ldx (", ldx, ") must be at least ", n,
          ", the rows of the matrix");
  require(n_rhs == 0 || n == 0 || std::max(ldb, ldx) <= INT64_MAX / 16 / n_rhs, SXT_E_OVERFLOW, n_rhs, " columns ",
          std::max(ldb, ldx), " values apart do not fit the address space");
  const bool same = b == x && ldb == ldx;
  if (n > 0 && !same && !columns_apart(b, ldb * each, x, ldx * each, n_rhs, n * each))
    fail(SXT_E_ARGUMENT, "b and x overlap; they may only be one array with one leading dimension");
  require(options.step >= SXT_STEP_ALL && options.step <= SXT_STEP_BACKWARD, SXT_E_ARGUMENT, "options->step is ",
          options.step, ", no SXT_STEP_*");
  require(options.refine_steps >= 0, SXT_E_ARGUMENT, "options->refine_steps is negative (", options.refine_steps, ")");
  require(options.refine_steps == 0 || options.step == SXT_STEP_ALL, SXT_E_ARGUMENT,
          "options->refine_steps is given with a step of its own: only whole solves are refined");
  require(options.refine_tolerance >= 0, SXT_E_ARGUMENT, "options->refine_tolerance is ", options.refine_tolerance,
          "; it must not be negative");
  require(analysis.settings().schur_rows.empty() || options.step != SXT_STEP_ALL, SXT_E_STATE,
          "rows were left to a Schur complement: solve by steps, and with that complement between them");
  cholesky::SolveCall call;
  call.n_rhs = n_rhs, call.ldb = ldb, call.ldx = ldx;
  call.b = b, call.x = x;
  call.step = options.step;
  call.refine_steps = options.refine_steps;
  call.refine_tolerance = options.refine_tolerance;
  call.cancel = options.cancel;
  return call;
}

sxt_cholesky_info info_of(const sxt_cholesky &handle) {
  const cholesky::Factor &factor = handle.factor;
  const cholesky::FactorOutcome &outcome = factor.outcome();
  sxt_cholesky_info info{};
  info.struct_size = sizeof info;
  info.factored = outcome.factored;
  info.failed_row = outcome.failed_row < 0 ? -1 : outcome.failed_row + handle.index_base;
  info.failed_pivot = outcome.failed_pivot;
  info.factor_seconds = outcome.seconds;
  info.predicted_factor_seconds = factor.analysis().factor_seconds();
  if (!outcome.factored) return info;
  const cholesky::FactorFacts &facts = factor.facts();
  info.log_determinant = facts.log_determinant;
  info.sign = facts.sign;
  info.positive = facts.positive, info.negative = facts.negative, info.zero = facts.zero;
  info.least_pivot = facts.least_pivot, info.largest_pivot = facts.largest_pivot;
  info.changed_pivots = outcome.changed;
  info.factor_type = factor.factor_type();
  info.repeated = factor.repeated();
  return info;
}

template <class Make>
sxt_status make_analysis(sxt_matrix *a, const sxt_analysis_options *options, sxt_analysis **analysis, Make &&make) {
  return guarded(abi::id_of(a), [&] {
    of_context(a, "a");
    given(analysis, "analysis");
    const cholesky::Settings settings = settings_of(read_sized(options, analysis_defaults(), "options"), *a);
    auto handle = std::make_unique<sxt_analysis>();
    handle->index_base = a->index_base;
    handle->analysis = counting_from(a->index_base, [&] { return make(settings); });
    *analysis = handle.release();
  });
}

}  // namespace

void sxt_analysis_options_init(sxt_analysis_options *options, uint64_t struct_size) {
  write_sized(options, struct_size, analysis_defaults());
}
void sxt_factor_options_init(sxt_factor_options *options, uint64_t struct_size) {
  write_sized(options, struct_size, factor_defaults());
}
void sxt_cholesky_solve_options_init(sxt_cholesky_solve_options *options, uint64_t struct_size) {
  write_sized(options, struct_size, cholesky_solve_defaults());
}

sxt_status sxt_analysis_create(sxt_matrix *a, const sxt_analysis_options *options, sxt_analysis **analysis) {
  return make_analysis(a, options, analysis, [&](const cholesky::Settings &settings) {
    return std::make_shared<cholesky::Analysis>(a->matrix, settings);
  });
}

sxt_status sxt_analysis_load(sxt_matrix *a, const char *path, const sxt_analysis_options *options,
                             sxt_analysis **analysis) {
  return make_analysis(a, options, analysis, [&](const cholesky::Settings &settings) {
    given(path, "path");
    require(*path, SXT_E_ARGUMENT, "path is empty");
    return std::make_shared<cholesky::Analysis>(a->matrix, settings, path);
  });
}

sxt_status sxt_analysis_save(const sxt_analysis *analysis, const char *path) {
  return guarded(id_of(analysis), [&] {
    given(analysis, "analysis");
    given(path, "path");
    analysis->analysis->save(path);
  });
}

sxt_status sxt_analysis_get_info(const sxt_analysis *analysis, sxt_analysis_info *info) {
  return guarded(id_of(analysis), [&] { answer_sized(info, given(analysis, "analysis").analysis->info(), "info"); });
}

sxt_status sxt_analysis_get_order(const sxt_analysis *analysis, int64_t n, int64_t *permutation) {
  return guarded(id_of(analysis), [&] {
    const sxt_symbolic &symbolic = given(analysis, "analysis").analysis->symbolic();
    require(n == symbolic.n, SXT_E_DIMENSION, "n is ", n, ", the matrix has ", symbolic.n, " rows");
    require(n == 0 || permutation, SXT_E_ARGUMENT, "permutation is NULL");
    require_aligned(permutation, sizeof *permutation, "permutation");
    for (std::int64_t k = 0; k < n; ++k) permutation[k] = symbolic.perm[k] + std::int64_t{analysis->index_base};
  });
}

sxt_status sxt_analysis_get_method(const sxt_analysis *analysis, char *buffer, int64_t capacity, int64_t *length) {
  return guarded(id_of(analysis),
                 [&] { fill(given(analysis, "analysis").analysis->method(), buffer, capacity, length); });
}

sxt_status sxt_analysis_explain(const sxt_analysis *analysis, int32_t form, char *buffer, int64_t capacity,
                                int64_t *length) {
  return guarded(id_of(analysis), [&] {
    const cholesky::Analysis &about = *given(analysis, "analysis").analysis;
    const Explanation explanation = about.explain();
    require(form == SXT_TEXT || form == SXT_JSON, SXT_E_ARGUMENT, "form ", form,
            " is not SXT_TEXT (0) or SXT_JSON (1)");
    fill(form == SXT_JSON ? explain_json(explanation, about.context().machine()) : explain_text(explanation), buffer,
         capacity, length);
  });
}

void sxt_analysis_destroy(sxt_analysis *analysis) { destroy(analysis); }

sxt_status sxt_cholesky_create(const sxt_analysis *analysis, sxt_cholesky **cholesky) {
  return guarded(id_of(analysis), [&] {
    given(analysis, "analysis");
    given(cholesky, "cholesky");
    *cholesky = std::make_unique<sxt_cholesky>(*analysis).release();
  });
}

sxt_status sxt_cholesky_factor(sxt_cholesky *cholesky, sxt_matrix *a, const sxt_factor_options *options) {
  return guarded(id_of(cholesky), [&] {
    given(cholesky, "cholesky");
    const sxt_factor_options own = read_sized(options, factor_defaults(), "options");
    return counting_from(cholesky->index_base, [&] {
      return tell_cancelled(cholesky->factor.factor(a ? of_context(a, "a").matrix : nullptr, own.cancel),
                            id_of(cholesky), "factorisation");
    });
  });
}

sxt_status sxt_cholesky_solve(const sxt_cholesky *cholesky, int64_t n, int64_t n_rhs, const void *b, int64_t ldb,
                              void *x, int64_t ldx, const sxt_cholesky_solve_options *options,
                              sxt_cholesky_solve_report *report) {
  return guarded(id_of(cholesky), [&] {
    given(cholesky, "cholesky");
    const cholesky::SolveCall call =
        call_of(*cholesky, n, n_rhs, b, ldb, x, ldx, read_sized(options, cholesky_solve_defaults(), "options"));
    if (report) check_sized(report, "report");
    sxt_cholesky_solve_report answer{};
    answer.struct_size = sizeof answer;
    answer.residual = answer.residual_bound = NAN;
    const sxt_status status = counting_from(cholesky->index_base, [&] { return cholesky->factor.solve(call, answer); });
    if (report) answer_sized(report, answer, "report");
    return tell_cancelled(status, id_of(cholesky), "solve");
  });
}

sxt_status sxt_cholesky_get_info(const sxt_cholesky *cholesky, sxt_cholesky_info *info) {
  return guarded(id_of(cholesky), [&] {
    given(cholesky, "cholesky");
    check_sized(info, "info");
    answer_sized(info, info_of(*cholesky), "info");
  });
}

sxt_status sxt_cholesky_changed_pivots(const sxt_cholesky *cholesky, int64_t capacity, int64_t *rows, int64_t *count) {
  return guarded(id_of(cholesky), [&] {
    const cholesky::FactorOutcome &outcome = given(cholesky, "cholesky").factor.outcome();
    require(outcome.factored, SXT_E_STATE, "there is no factor");
    require(capacity >= 0 && (capacity == 0 || rows), SXT_E_ARGUMENT, "rows is NULL, or capacity negative (", capacity,
            ")");
    require_aligned(rows, sizeof *rows, "rows");
    const auto known = static_cast<std::int64_t>(outcome.changed_rows.size());
    for (std::int64_t k = 0; k < std::min(capacity, known); ++k)
      rows[k] = outcome.changed_rows[static_cast<std::size_t>(k)] + cholesky->index_base;
    given(count, "count") = outcome.changed;
  });
}

sxt_status sxt_cholesky_diagonal(const sxt_cholesky *cholesky, int64_t n, double *pivots) {
  return guarded(id_of(cholesky), [&] {
    const cholesky::FactorFacts &facts = given(cholesky, "cholesky").factor.facts();
    require(n == static_cast<std::int64_t>(facts.pivots.size()), SXT_E_DIMENSION, "n is ", n, ", the matrix has ",
            facts.pivots.size(), " rows");
    require(n == 0 || pivots, SXT_E_ARGUMENT, "pivots is NULL");
    require_aligned(pivots, sizeof *pivots, "pivots");
    std::copy(facts.pivots.begin(), facts.pivots.end(), pivots);
  });
}

sxt_status sxt_cholesky_rcond(const sxt_cholesky *cholesky, double *rcond) {
  return guarded(id_of(cholesky), [&] {
    given(cholesky, "cholesky");
    given(rcond, "rcond") = cholesky->factor.rcond();
  });
}

sxt_status sxt_cholesky_schur(const sxt_cholesky *cholesky, int64_t n_schur, void *schur, int64_t ld) {
  return guarded(id_of(cholesky), [&] {
    const cholesky::Analysis &analysis = given(cholesky, "cholesky").factor.analysis();
    const auto own = static_cast<std::int64_t>(analysis.settings().schur_rows.size());
    require(n_schur == own, SXT_E_DIMENSION, "n_schur is ", n_schur, "; ", own, " rows were left unfactored");
    require(ld >= n_schur, SXT_E_DIMENSION, "ld (", ld, ") is less than n_schur (", n_schur, ")");
    require(n_schur == 0 || schur, SXT_E_ARGUMENT, "schur is NULL");
    require_aligned(schur, value_alignment(analysis.value_type()), "schur");
    cholesky->factor.schur(schur, ld);
  });
}

sxt_status sxt_cholesky_inverse(const sxt_cholesky *cholesky, int64_t count, const int64_t *rows, const int64_t *cols,
                                void *values) {
  return guarded(id_of(cholesky), [&] {
    given(cholesky, "cholesky");
    require(count >= 0, SXT_E_ARGUMENT, "count is negative (", count, ")");
    require(count == 0 || (rows && cols && values), SXT_E_ARGUMENT, "rows, cols or values is NULL");
    require_aligned(rows, sizeof *rows, "rows");
    require_aligned(cols, sizeof *cols, "cols");
    require_aligned(values, value_alignment(cholesky->factor.analysis().value_type()), "values");
    cholesky->factor.inverse(count, rows, cols, cholesky->index_base, values);
  });
}

void sxt_cholesky_destroy(sxt_cholesky *cholesky) { destroy(cholesky); }
