// SPDX-License-Identifier: BSD-3-Clause
// One place, at the edge of each solve, brings everything that was derived from the matrix's values up to date. Where
// the values are no longer those that the plan rests on, it is made anew.
#include "core/pcg/solver.hpp"

#include <cstdint>
#include <string>

#include "core/base/types.hpp"
#include "core/device/capturing.hpp"
#include "core/device/stage.hpp"
#include "core/pcg/clock.hpp"
#include "core/pcg/own_stream.hpp"
#include "core/pcg/solve.hpp"

namespace sextant {

PcgSolver::PcgSolver(std::shared_ptr<Matrix> matrix, const PcgSettings &settings)
    : matrix_(std::move(matrix)), settings_(settings), look_(*matrix_, settings_), captured_(matrix_, [this] {
        const std::lock_guard lock(mutex_);
        bring_up_to_date();
      }) {
  const Clock clock;
  if (settings_.rtol < 0) settings_.rtol = default_rtol(matrix_->value_type());
  check_settings(settings_, matrix_->value_type());
  require(matrix_->rows() == matrix_->cols(), SXT_E_NOT_SQUARE, "the matrix is ", matrix_->rows(), " x ",
          matrix_->cols(), "; conjugate gradients need a square one");
  const double built_before_s = matrix_->built_seconds();
  TakenIn taken = take_in(look_.look());
  null_space_ = NullSpace(taken.matrix(), settings_.null_space, settings_.null_space_size);
  settings_.null_space = nullptr;  // copied
  make_setup(std::move(taken), built_before_s);
  setup_->took(clock.seconds());
}

TakenIn PcgSolver::take_in(const Looked &looked) {
  TakenIn taken(matrix_, looked, look_.compares());
  taken.tell(notes_);
  return taken;
}

void PcgSolver::make_setup(TakenIn taken, double built_before_s) {
  setup_ =
      std::make_unique<PcgSetup>(std::move(taken), settings_, null_space_, look_.seconds() - built_before_s, notes_);
  look_.forget_needless();
  version_ = matrix_->version();
}

void PcgSolver::bring_up_to_date() {
  const bool stale = version_ != matrix_->version();
  if (!stale && setup_ && (setup_->watch().found().empty() || !is_free())) return;
  const Looked now = look_.look();
  if (!setup_) return plan_anew(now, "planning anew did not come to its end");
  const bool takes_copy = !setup_->problem().taken.copied() && now.wants_copy();
  require(!takes_copy || is_free(), SXT_E_STATE, "the matrix has new values that are far from 1, or differ from their ",
          "transpose by rounding, and a solve was captured with its old ones: set up again, and capture anew");
  const PcgProblem &problem = setup_->problem();
  const std::string why =
      why_plan_anew(problem, setup_->system(), setup_->watch(), now, rough_total_s(problem, setup_->expected()));
  if (!why.empty() && is_free()) return plan_anew(now, why);
  if (!why.empty())
    matrix_->context().log()(
        SXT_LOG_WARNING,
        "a set-up keeps a plan that was made for other values, since captured solves or others that "
        "still run use it: " +
            why);
  setup_->watch().forget();
  try {
    setup_->refresh(now, stale, !is_free(), notes_);
  } catch (const Error &error) {
    const bool too_narrow = setup_->system().narrow() && error.status() == SXT_E_OVERFLOW &&
                            precision_wanted(settings_, matrix_->value_type()).empty();
    if (!too_narrow || !is_free()) throw;
    return plan_anew(now, error.what());
  }
  version_ = matrix_->version();
  captured_.note_new_values(*setup_);
}

// As if the set-up were made now. Nothing runs, and no graph has anything of it.
void PcgSolver::plan_anew(const Looked &now, const std::string &why) {
  const Clock clock;
  const std::string note = "planned anew for new values: " + why;  // why may be the old set-up's
  const double built_before_s = matrix_->built_seconds();
  setup_.reset();
  notes_ = {note};
  TakenIn taken = take_in(now);
  if (!null_space_.empty()) null_space_.check(taken.matrix().csr());
  make_setup(std::move(taken), built_before_s);
  setup_->took(clock.seconds());
  matrix_->context().log()(SXT_LOG_INFO, note);
}

PcgSolver::InUse::InUse(PcgSolver &of) : solver_(of) {
  const std::lock_guard lock(solver_.mutex_);
  solver_.bring_up_to_date();
  solver_.captured_.tell();
  ++solver_.in_use_;
}

PcgSolver::InUse::~InUse() {
  const std::lock_guard lock(solver_.mutex_);
  --solver_.in_use_;
}

void PcgSolver::InUse::learn(const sxt_pcg_report &report, double rtol) const {
  const std::lock_guard lock(solver_.mutex_);
  PcgSetup &setup = *solver_.setup_;
  setup.watch().learn(setup.problem(), setup.expected(), solver_.version_, report, rtol);
}

bool PcgSolver::is_captured() const { return is_captured_or_wait(matrix_->context().device()); }

sxt_pcg_report PcgSolver::record(const void *b, void *x, const SolveSettings &settings) {
  const std::lock_guard lock(mutex_);
  require(setup_ != nullptr, SXT_E_STATE, "the set-up has no plan for the matrix's new values: solve once before");
  return captured_.record(*setup_, version_ == matrix_->version(), b, x, settings);
}

sxt_pcg_report PcgSolver::solve(const void *b, void *x, const SolveSettings &settings) {
  if (is_captured()) return record(b, x, settings);
  Device &device = matrix_->context().device();
  const InUse setup(*this);
  const LentWorkspace work(setup->pool(), device, setup->workspace_shape());
  const OwnStream own(device);
  const sxt_pcg_report report = PcgSolve(*setup, *work, b, x, settings).run();
  own.finish();
  setup.learn(report, settings.rtol);
  return report;
}

sxt_pcg_report PcgSolver::solve_array(const void *b, void *x, const SolveSettings &settings) {
  Device &device = matrix_->context().device();
  const std::uint64_t element = value_bytes(matrix_->value_type());
  if (is_captured()) {
    for (const auto &[array, name] : {std::pair<const void *, const char *>{b, "b"}, {x, "x"}})
      require(in_place(device, array, element, name), SXT_E_STATE, "the stream is being captured, and ", name,
              " lies in host memory: a captured solve takes arrays of the device");
    return record(b, x, settings);
  }
  const InUse setup(*this);
  const LentWorkspace work(setup->pool(), device, setup->workspace_shape());
  const OwnStream own(device);
  const std::uint64_t bytes = static_cast<std::uint64_t>(matrix_->rows()) * element;
  Staged rhs(device, b, bytes, element, work->staged_b, "b"), solution(device, x, bytes, element, work->staged_x, "x");
  rhs.load();
  if (settings.use_initial_guess) solution.load();
  const sxt_pcg_report report = PcgSolve(*setup, *work, rhs.data(), solution.data(), settings).run();
  solution.store(x);
  own.finish();
  setup.learn(report, settings.rtol);
  return report;
}

bool PcgSolver::together_pays(std::int32_t columns) {
  if (columns < 2 || is_captured()) return false;
  const InUse setup(*this);  // what pays may be another engine for new values
  return setup->columns_engine(columns) != nullptr;
}

void PcgSolver::solve_together(std::span<const ArrayColumn> columns, sxt_pcg_report *reports) {
  {
    const InUse setup(*this);
    Runner *const engine = is_captured() ? nullptr : setup->columns_engine(static_cast<std::int32_t>(columns.size()));
    if (engine) {
      sextant::solve_together(*setup, *engine, columns, reports);
      for (std::size_t j = 0; j < columns.size(); ++j) setup.learn(reports[j], columns[j].settings.rtol);
      return;
    }
  }
  for (std::size_t j = 0; j < columns.size(); ++j)  // planned anew meanwhile
    reports[j] = solve_array(columns[j].b, columns[j].x, columns[j].settings);
}

Explanation PcgSolver::explain() const {
  const std::lock_guard lock(mutex_);  // new values may change the plan
  Explanation out;
  out.title = "Conjugate gradients: " + text(matrix_->rows(), " unknowns, ", matrix_->csr().nnz, " nonzeros, ",
                                             value_name(matrix_->value_type()));
  if (setup_ && setup_->engine()) setup_->explain(out);  // else planning anew for new values failed
  out.notes = notes_;
  return out;
}

double PcgSolver::expected_iterations() const {
  const std::lock_guard lock(mutex_);
  return setup_ ? setup_->expected().iterations : 0;
}

double PcgSolver::predicted_seconds() const {
  const std::lock_guard lock(mutex_);
  return setup_ ? setup_->costs().solve_s(setup_->expected().iterations, 1) : 0;
}

SolveCosts PcgSolver::costs() const {
  const std::lock_guard lock(mutex_);
  return setup_ ? setup_->costs() : SolveCosts{};
}

std::string PcgSolver::method() const {
  const std::lock_guard lock(mutex_);
  return setup_ ? setup_->system().method() : "";
}

}  // namespace sextant
