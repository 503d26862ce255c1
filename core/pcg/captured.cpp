// SPDX-License-Identifier: BSD-3-Clause
#include "core/pcg/captured.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "core/base/types.hpp"
#include "core/pcg/solve.hpp"
#include "sextant/plugin/kinds/pcg_record.h"

namespace sextant {

namespace {

// What a host alone can do.
void check_unaccompanied(const PcgSettings &solver, const SolveSettings &solve) {
  const bool accompanied = solve.history || solve.progress || solve.cancel || solve.time_limit > 0;
  require(
      !accompanied, SXT_E_NOT_SUPPORTED,
      "a solve that is captured can have no history, progress, cancel or time_limit: no host accompanies its replay");
  require(solver.norm == SXT_NORM_2, SXT_E_NOT_SUPPORTED, "a solve that is captured stops by the 2-norm only");
}

// Replays write it while the host may read it.
void check_report(Device &device, const sxt_pcg_report *report) {
  if (!report || !device.ops().locate) return;
  sxt_space space = SXT_SPACE_HOST;
  std::int32_t ordinal = -1;
  const bool found = device.ops().locate(device.handle(), report, &space, &ordinal) == SXT_OK;
  require(found && (space == SXT_SPACE_PINNED || space == SXT_SPACE_MANAGED), SXT_E_ARGUMENT,
          "the report of a solve that is captured is written by every replay: it must lie in pinned or managed memory");
}

// All that a graph has by value: of the matrix, in every part of the engine, and of the scaling; and which engine.
std::string view_of(const PcgSetup &setup) {
  std::string view;
  setup.engine()->prepared().append_views(view);
  const void *const scaling = setup.system().scaling();
  const void *const engine = setup.engine();
  view.append(reinterpret_cast<const char *>(&engine), sizeof engine);
  return view.append(reinterpret_cast<const char *>(&scaling), sizeof scaling);
}

// The kernel that judges every replay, and what it works on.
void lend_truth(const PcgSetup &setup, PcgWorkspace &work, sxt_pcg_record_args &args) {
  args.residual = &setup.truth().prepared().bound();
  require(!setup.truth().choice().kernel->table.open, SXT_E_INTERNAL, args.residual->kernel, " needs a session");
  args.residual_scratch = work.truth_scratch.data();
  args.norms = work.norms.as<sxt_residual_norms>();
  if (const std::optional<RowOrder> &order = setup.system().order()) {
    args.own_x = work.own_x.data();
    args.own_r = work.own_residual.data();
    args.index = order->index.data();
    args.index_type = order->index_type;
  } else if (setup.system().scaling()) {
    args.own_x = work.candidate.data();
    args.own_r = work.residual.data();
  }
}

// Where each replay says how it ended.
void lend_report(sxt_pcg_report *live, sxt_pcg_record_args &args) {
  if (!live) return;
  args.reason = &live->reason;
  args.iterations = &live->iterations;
  args.confirmations = &live->confirmations;
  args.rhs_norm = &live->rhs_norm;
  args.residual_norm = &live->residual_norm;
  args.relative_residual = &live->true_relative_residual;
}

// The engine's own way to be recorded. Throws where it has none, or the set-up asks for what a replay does not do.
const sxt_pcg_ops &recording_ops(const PcgSetup &setup, const SolveSettings &settings) {
  require(setup.engine() != nullptr, SXT_E_STATE,
          "the set-up has no plan for the matrix's new values: solve once before");
  const registry::Kernel &engine = *setup.engine()->choice().kernel;
  const auto *ops = static_cast<const sxt_pcg_ops *>(engine.table.ops);
  require(ops && ops->struct_size >= sizeof *ops && ops->record, SXT_E_STATE, "the stream is being captured, and ",
          engine.name(), " asks the host when to stop; the engines pcg.graph.* can be captured");
  require(!setup.system().narrow(), SXT_E_NOT_SUPPORTED,
          "a matrix held in f32 needs corrections, which a captured solve does not make");
  require(setup.problem().null_space.empty(), SXT_E_NOT_SUPPORTED, "a solve that is captured leaves no null space out");
  check_unaccompanied(setup.problem().settings, settings);
  check_report(setup.problem().context().device(), settings.live);
  return *ops;
}

}  // namespace

struct CapturedSolves::Held {  // what one captured solve works on
  std::unique_ptr<PcgWorkspace> workspace;
  std::unique_ptr<Session> session;
  int exponent = 0;  // of the matrix as it was taken in, by which x is brought back
  std::string view;  // what it has of the matrix by value: the view of the engine's storage, byte by byte
};

CapturedSolves::CapturedSolves(std::shared_ptr<Matrix> matrix, std::function<void()> values_changed)
    : matrix_(std::move(matrix)), values_changed_(std::move(values_changed)) {}

CapturedSolves::~CapturedSolves() {
  if (any()) matrix_->unfollow(*this);
}

CapturedSolves::Held &CapturedSolves::take(PcgSetup &setup, bool up_to_date) {
  require(up_to_date, SXT_E_STATE, "the matrix has new values: solve once before a solve is captured");
  std::unique_ptr<Session> session = setup.engine()->take_idle();
  std::unique_ptr<PcgWorkspace> workspace = session ? setup.pool().take_idle(setup.workspace_shape()) : nullptr;
  require(workspace != nullptr, SXT_E_STATE,
          "nothing can be allocated while a stream is being captured: solve once before, for each solve that is to be "
          "captured, so that its memory is there");
  if (!any()) matrix_->follow(*this);
  held_.push_back(std::make_unique<Held>(
      Held{std::move(workspace), std::move(session), setup.problem().taken.exponent(), view_of(setup)}));
  return *held_.back();
}

void CapturedSolves::note_new_values(const PcgSetup &setup) {
  if (!any()) return;
  const std::string view = view_of(setup);
  const int exponent = setup.problem().taken.exponent();
  for (const auto &each : held_)
    if (std::exchange(each->view, view) != view || std::exchange(each->exponent, exponent) != exponent) stale_ = true;
}

void CapturedSolves::tell() {
  require(!std::exchange(stale_, false), SXT_E_STATE,
          "a solve was captured with a matrix that new values have given another form (its ",
          "diagonal is no longer all ones, it is far from 1, or the preconditioner does not serve it): capture it "
          "anew; solves outside of a capture go on "
          "from the next one");
}

void CapturedSolves::values_changed() noexcept {
  try {
    values_changed_();
  } catch (...) {
  }
}

sxt_pcg_report CapturedSolves::record(PcgSetup &setup, bool up_to_date, const void *b, void *x,
                                      const SolveSettings &settings) {
  const sxt_pcg_ops &ops = recording_ops(setup, settings);
  const Matrix &matrix = setup.problem().matrix();
  Operations &operations = Operations::own_of(matrix.context());
  const std::int64_t n = matrix.rows();
  sxt_pcg_report out{};
  out.struct_size = sizeof out;
  out.setup_seconds = setup.seconds();
  out.predicted_setup_seconds = setup.predicted_seconds();
  out.predicted_iterations = setup.expected().iterations;
  out.reason = n == 0 ? SXT_REASON_CONVERGED : SXT_REASON_NONE;
  if (n == 0) return out;

  Held &own = take(setup, up_to_date);
  PcgWorkspace &work = *own.workspace;
  const EngineSystem &system = setup.system();
  const Crossing crossing = system.crossing();
  if (system.changes_rhs()) crossing.take_in_rhs(b, work.rhs.data());
  if (settings.use_initial_guess) {
    crossing.take_in_guess(x, work.iterate.data());
    shift_by(operations, matrix.value_type(), n, work.iterate.data(), -own.exponent);
  }
  sxt_pcg_record_args args{};
  args.h = {sizeof args, SXT_KIND_PCG};
  args.n = n;
  args.b = system.changes_rhs() ? work.rhs.data() : b;
  args.x = work.iterate.data();
  args.scaling = system.scaling();
  args.x_is_zero = !settings.use_initial_guess;
  args.rtol = settings.rtol;
  args.atol = settings.atol;
  args.max_iterations = settings.max_iterations;
  args.own_b = b;
  lend_truth(setup, work, args);
  lend_report(settings.live, args);
  own.session->run_by(ops.record, &args.h);
  crossing.unscale(work.iterate.data(), system.order() ? work.own_x.data() : x);
  if (system.order()) crossing.put_back(work.own_x.data(), x);
  shift_by(operations, matrix.value_type(), n, x, own.exponent);
  return out;
}

}  // namespace sextant
