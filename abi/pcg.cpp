// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "abi/handles.hpp"
#include "abi/options.hpp"
#include "abi/overlap.hpp"
#include "abi/pcg_words.hpp"
#include "abi/sized.hpp"
#include "abi/world_calls.hpp"
#include "core/base/aligned.hpp"

using namespace sextant;
using namespace sextant::abi;

namespace {

sxt_pcg_options pcg_defaults() {
  const PcgSettings settings;
  sxt_pcg_options options{};
  options.struct_size = sizeof options;
  options.rtol = settings.rtol;
  options.atol = settings.atol;
  options.check_symmetry = 1;
  options.divergence_limit = settings.divergence_limit;
  options.expected_solves = settings.expected_solves;
  return options;
}

sxt_solve_options pcg_solve_defaults() {
  sxt_solve_options options{};
  options.struct_size = sizeof options;
  options.rtol = options.atol = options.time_limit = -1;
  return options;
}

PcgSettings settings_of(const sxt_pcg_options &options) {
  PcgSettings settings;
  settings.preconditioner = name_of(options.preconditioner, "options->preconditioner");
  settings.recurrence = name_of(options.recurrence, "options->recurrence");
  settings.engine = name_of(options.engine, "options->engine");
  settings.format = name_of(options.format, "options->format");
  settings.rtol = options.rtol;
  settings.atol = options.atol;
  settings.norm = options.norm;
  settings.check_symmetry = switched(options.check_symmetry, "options->check_symmetry");
  settings.symmetry_tolerance = options.symmetry_tolerance;
  settings.max_iterations = options.max_iterations;
  settings.divergence_limit = options.divergence_limit;
  settings.stagnation_window = options.stagnation_window;
  settings.time_limit = options.time_limit;
  settings.expected_solves = within_reason(options.expected_solves);
  settings.expected_iterations = within_reason(options.expected_iterations);
  settings.probe = options.probe;
  settings.reorder = options.reorder;
  settings.null_space = options.null_space;
  settings.null_space_size = options.null_space_size;
  return settings;
}

SolveSettings settings_of(const sxt_solve_options &options, SolveSettings settings) {
  require(!std::isnan(options.time_limit), SXT_E_ARGUMENT, "options->time_limit is not a number");
  require(options.rtol <= std::numeric_limits<double>::max() && options.atol <= std::numeric_limits<double>::max(),
          SXT_E_ARGUMENT, "options->rtol (", options.rtol, ") and options->atol (", options.atol,
          ") must be finite, or negative for those of the set-up");
  require(options.history_capacity >= 0, SXT_E_ARGUMENT, "options->history_capacity is negative (",
          options.history_capacity, ")");
  check_reserved(options.reserved0, "options->reserved0");
  settings.use_initial_guess = switched(options.use_initial_guess, "options->use_initial_guess");
  if (options.rtol >= 0) settings.rtol = options.rtol;
  if (options.atol >= 0) settings.atol = options.atol;
  if (options.time_limit >= 0) settings.time_limit = options.time_limit;
  require(options.max_iterations >= 0, SXT_E_ARGUMENT, "options->max_iterations is negative (", options.max_iterations,
          ")");
  if (options.max_iterations > 0) settings.max_iterations = options.max_iterations;
  settings.progress = options.progress;
  settings.progress_user = options.progress_user;
  settings.cancel = options.cancel;
  settings.history = options.history;
  settings.history_capacity = options.history_capacity;
  settings.history_length = options.history_length;
  settings.publish_length(0);  // of the first column of a block
  return settings;
}

// Checks columns that begin ldb and ldx values apart and are as long as the matrix.
void check_apart(const sxt_pcg &pcg, std::int64_t count, const void *b, std::int64_t ldb, const void *x,
                 std::int64_t ldx) {
  const std::int64_t each = value_bytes(pcg.solver->matrix().value_type()), rows = pcg.solver->matrix().rows();
  if (rows > 0 && !columns_apart(b, ldb * each, x, ldx * each, count, rows * each))
    fail(SXT_E_ARGUMENT, "b and x overlap");
}

// The explanation of a residual that did not fall: the limit is the rounding of x in its type.
std::string limit_text(const sxt_pcg_report &answer) {
  const bool at_limit =
      answer.reason == SXT_REASON_STAGNATED && answer.residual_norm <= at_rounding_limit * answer.rounding_limit;
  if (!at_limit) return "";
  return text(
      "; the limit is the rounding of x itself: rounded to the matrix's type, even the exact solution may have "
      "a residual of ",
      answer.rounding_limit, " (a relative one of ", answer.rounding_limit / answer.rhs_norm, ")");
}

// The sentence about a solve; column: of a block, negative for a single solve.
sxt_status conclude(const sxt_pcg &pcg, const sxt_pcg_report &answer, sxt_pcg_report *report, int64_t column = -1) {
  if (report) answer_sized(report, answer, "report");
  if (pcg.solver) log_solve(pcg.solver->planned(), answer);
  // NONE: the solve became part of a graph, and every replay reports its own outcome. check_ending refuses all others.
  if (answer.reason == SXT_REASON_CONVERGED || answer.reason == SXT_REASON_NONE) return SXT_OK;
  const std::string which =
      column < 0 ? "" : text("column ", column + pcg.index_base, " (counting from ", pcg.index_base, ") ");
  const std::string limit = limit_text(answer);
  const std::string advice = limit.empty() ? ending_advice(answer.reason, pcg.null_space_size) : limit;
  remember(id_of(&pcg), text(which, "not converged: ", reason_sentence(answer.reason), ", at iteration ",
                             answer.iterations, "; true relative residual ", answer.true_relative_residual, advice)
                            .c_str());
  return SXT_NOT_CONVERGED;
}

// Checked before the solve, because afterwards x would have changed without a report.
void check_report(const sxt_pcg_report *report) {
  if (report) check_sized(report, "report");
}

// A report that holds all members that a replay writes; NULL: the report is shorter, of an older caller.
sxt_pcg_report *whole(sxt_pcg_report *report) {
  return report && report->struct_size >= SXT_END_OF(sxt_pcg_report, confirmations) ? report : nullptr;
}

void check_array(const sxt_pcg &pcg, int64_t n, const void *b, const void *x) {
  const Matrix &matrix = pcg.solver->matrix();
  require(n == matrix.rows(), SXT_E_DIMENSION, "b and x have ", n, " values, the matrix ", matrix.rows(), " rows");
  require(n == 0 || (b && x), SXT_E_ARGUMENT, b ? "x" : "b", " is NULL");
  const std::int64_t alignment = value_alignment(matrix.value_type());
  require_aligned(b, alignment, "b");
  require_aligned(x, alignment, "x");
}

// The j-th of the caller's reports, which are struct_size bytes apart; NULL without reports.
sxt_pcg_report *report_at(sxt_pcg_report *reports, int64_t j) {
  if (!reports) return nullptr;
  return reinterpret_cast<sxt_pcg_report *>(reinterpret_cast<char *>(reports) +
                                            static_cast<std::uint64_t>(j) * reports->struct_size);
}

// The history of column j.
SolveSettings of_column(const SolveSettings &all, int64_t j) {
  SolveSettings one = all;
  if (one.history) one.history += j * all.history_capacity;
  if (one.history_length) one.history_length += j;
  return one;
}

void check_block(const sxt_pcg &pcg, int64_t n, int64_t n_rhs, int64_t ldb, int64_t ldx, sxt_pcg_report *reports) {
  require(n_rhs >= 0, SXT_E_ARGUMENT, "n_rhs is negative (", n_rhs, ")");
  const int64_t rows = pcg.solver->matrix().rows();
  require(ldb >= n && ldx >= n, SXT_E_DIMENSION, "ldb (", ldb, ") and ldx (", ldx, ") must be at least ", n,
          ", the rows of the matrix");
  require(n_rhs == 0 || rows == 0 || std::max(ldb, ldx) <= INT64_MAX / 16 / n_rhs, SXT_E_OVERFLOW, n_rhs, " columns ",
          std::max(ldb, ldx), " values apart do not fit the address space");
  for (int64_t j = 0; reports && j < n_rhs; ++j) {
    const std::uint64_t size = report_at(reports, j)->struct_size;
    require(is_size_of<sxt_pcg_report>(size) && size == reports->struct_size, SXT_E_ARGUMENT, "reports[", j,
            "].struct_size is ", size, "; set it to sizeof *reports in each before the call");
  }
}

sxt_status solve_block(const sxt_pcg &pcg, PcgSolver &solver, int64_t n_rhs, const void *b, int64_t ldb, void *x,
                       int64_t ldx, const SolveSettings &settings, sxt_pcg_report *reports) {
  const std::uint64_t element = value_bytes(pcg.solver->matrix().value_type());
  const auto column = [&](int64_t j) -> ArrayColumn {
    const SolveSettings own = of_column(settings, j);
    own.publish_length(0);
    return {static_cast<const char *>(b) + static_cast<std::uint64_t>(j * ldb) * element,
            static_cast<char *>(x) + static_cast<std::uint64_t>(j * ldx) * element, own};
  };
  sxt_status worst = SXT_OK;
  bool cancelled = false;
  const bool accompanied = settings.progress || settings.cancel || settings.time_limit > 0;
  for (int64_t first = 0, count = 0; first < n_rhs; first += count) {
    count = std::min<int64_t>(n_rhs - first, most_columns);
    std::array<ArrayColumn, most_columns> columns{};
    std::array<sxt_pcg_report, most_columns> answers{};
    for (int64_t j = 0; j < count; ++j) columns[static_cast<std::size_t>(j)] = column(first + j);
    const bool together = !accompanied && solver.together_pays(static_cast<std::int32_t>(count));
    if (together) solver.solve_together({columns.data(), static_cast<std::size_t>(count)}, answers.data());
    for (int64_t j = 0; j < count; ++j) {
      sxt_pcg_report &answer = answers[static_cast<std::size_t>(j)];
      if (!together) {
        answer.struct_size = sizeof answer;
        answer.reason = SXT_REASON_CANCELLED;
        const ArrayColumn &one = columns[static_cast<std::size_t>(j)];
        if (!cancelled) answer = solver.solve_array(one.b, one.x, one.settings);
        cancelled = cancelled || answer.reason == SXT_REASON_CANCELLED;
      }
      worst = std::max(worst, conclude(pcg, answer, report_at(reports, first + j), first + j));
    }
  }
  return worst;
}

void check_operand(const sxt_pcg &pcg, const sxt_vector &vector, const char *name) {
  const Matrix &matrix = pcg.solver->matrix();
  require(!vector.world, SXT_E_ARGUMENT, name, " is a vector of a world, the matrix is of one context");
  require(vector.context->id() == matrix.context().id(), SXT_E_ARGUMENT, name,
          " belongs to another context than the matrix");
  require(vector.type == matrix.value_type(), SXT_E_TYPE, name, " holds ", value_name(vector.type), ", the matrix ",
          value_name(matrix.value_type()));
  require(vector.n == matrix.rows(), SXT_E_DIMENSION, name, " has ", vector.n, " values, the matrix ", matrix.rows(),
          " rows");
}

// Adds to a refusal what the caller can try.
std::unique_ptr<sxt_pcg> make_solver(const std::shared_ptr<Matrix> &matrix, const PcgSettings &settings) {
  try {
    auto made = std::make_unique<sxt_pcg>(matrix, settings);
    made->null_space_size = settings.null_space_size;
    log_setup(made->solver->planned());
    return made;
  } catch (const Error &error) {
    const std::string advice = refusal_advice(error.status(), *matrix);
    if (advice.empty()) throw;
    throw Error(error.status(), error.what() + advice);
  }
}

// Reads options at a gather, so that all ranks refuse what is wrong on one of them.
void create_in_world(const sxt_matrix &a, const sxt_pcg_options *options, sxt_pcg **pcg) {
  constexpr const char *call = "sxt_pcg_create";
  World &world = a.world->world();
  world.collective(call, [&] {
    PcgSettings settings;
    world.together(call, 0, [&](Frame &) {
      given(pcg, "pcg");
      settings = settings_of(read_sized(options, pcg_defaults(), "options"));
    });
    counting_from(a.index_base, [&] { *pcg = std::make_unique<sxt_pcg>(a.world, settings).release(); });
    (*pcg)->index_base = a.index_base;
  });
}

sxt_status solve_all(sxt_pcg &pcg, const sxt_vector *b, sxt_vector *x, const sxt_solve_options *options,
                     sxt_pcg_report *report) {
  const auto settings = [&] {
    check_report(report);
    return settings_of(read_sized(options, pcg_solve_defaults(), "options"), pcg.world->default_solve());
  };
  return counting_from(pcg.index_base, [&] { return conclude(pcg, solve_in_world(pcg, b, x, settings), report); });
}

}  // namespace

void sxt_pcg_options_init(sxt_pcg_options *options, uint64_t struct_size) {
  write_sized(options, struct_size, pcg_defaults());
}
void sxt_solve_options_init(sxt_solve_options *options, uint64_t struct_size) {
  write_sized(options, struct_size, pcg_solve_defaults());
}

sxt_status sxt_pcg_create(sxt_matrix *a, const sxt_pcg_options *options, sxt_pcg **pcg) {
  return guarded(id_of(a), [&] {
    const std::shared_ptr<Matrix> &matrix = given(a, "a").matrix;
    if (a->world) return create_in_world(*a, options, pcg);
    given(pcg, "pcg");
    const PcgSettings settings = settings_of(read_sized(options, pcg_defaults(), "options"));
    *pcg = counting_from(a->index_base, [&] { return make_solver(matrix, settings); }).release();
    (*pcg)->index_base = a->index_base;
  });
}

sxt_status sxt_pcg_solve(sxt_pcg *pcg, const sxt_vector *b, sxt_vector *x, const sxt_solve_options *options,
                         sxt_pcg_report *report) {
  return guarded(id_of(pcg), [&] {
    if (given(pcg, "pcg").world) return solve_all(*pcg, b, x, options, report);
    check_operand(*pcg, given(b, "b"), "b");
    check_operand(*pcg, given(x, "x"), "x");
    check_apart(*pcg, 1, b->data, b->n, x->data, x->n);
    check_report(report);
    PcgSolver &solver = pcg->solver->on_device();
    SolveSettings settings = settings_of(read_sized(options, pcg_solve_defaults(), "options"), solver.default_solve());
    settings.live = whole(report);
    return counting_from(pcg->index_base,
                         [&] { return conclude(*pcg, solver.solve(b->data, x->data, settings), report); });
  });
}

sxt_status sxt_pcg_solve_array(sxt_pcg *pcg, int64_t n, const void *b, void *x, const sxt_solve_options *options,
                               sxt_pcg_report *report) {
  return guarded(id_of(pcg), [&] {
    check_array(of_context(pcg, "pcg"), n, b, x);
    check_apart(*pcg, 1, b, n, x, n);
    check_report(report);
    PcgSolver &solver = pcg->solver->for_arrays(b, x);
    SolveSettings settings = settings_of(read_sized(options, pcg_solve_defaults(), "options"), solver.default_solve());
    settings.live = whole(report);
    return counting_from(pcg->index_base, [&] { return conclude(*pcg, solver.solve_array(b, x, settings), report); });
  });
}

sxt_status sxt_pcg_solve_block(sxt_pcg *pcg, int64_t n, int64_t n_rhs, const void *b, int64_t ldb, void *x, int64_t ldx,
                               const sxt_solve_options *options, sxt_pcg_report *reports) {
  return guarded(id_of(pcg), [&] {
    of_context(pcg, "pcg");
    if (n_rhs != 0) check_array(*pcg, n, b, x);
    check_block(*pcg, n, n_rhs, ldb, ldx, reports);
    check_apart(*pcg, n_rhs, b, ldb, x, ldx);
    PcgSolver &solver = pcg->solver->for_arrays(b, x);
    const SolveSettings settings =
        settings_of(read_sized(options, pcg_solve_defaults(), "options"), solver.default_solve());
    return counting_from(pcg->index_base,
                         [&] { return solve_block(*pcg, solver, n_rhs, b, ldb, x, ldx, settings, reports); });
  });
}

sxt_status sxt_pcg_explain(const sxt_pcg *pcg, int32_t form, char *buffer, int64_t capacity, int64_t *length) {
  return guarded(id_of(pcg), [&] {
    const Explanation explanation = given(pcg, "pcg").world ? pcg->world->explain() : pcg->solver->explain();
    require(form == SXT_TEXT || form == SXT_JSON, SXT_E_ARGUMENT, "form ", form,
            " is not SXT_TEXT (0) or SXT_JSON (1)");
    fill(form == SXT_JSON ? explain_json(explanation) : explain_text(explanation), buffer, capacity, length);
  });
}

void sxt_pcg_destroy(sxt_pcg *pcg) { destroy(pcg); }
