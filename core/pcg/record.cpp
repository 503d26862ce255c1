// SPDX-License-Identifier: BSD-3-Clause
// A solve on a stream that the application is capturing: left in its graph as a whole, so that a replay needs no host.
// What it works on was made by a solve before and belongs to the graph from then on.
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "core/base/types.hpp"
#include "core/device/capturing.hpp"
#include "core/pcg/solve.hpp"
#include "sextant/plugin/kinds/pcg_record.h"

namespace sextant {

namespace {

// What a host alone can do.
void check_settings(const PcgSettings &solver, const SolveSettings &solve) {
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

}  // namespace

bool PcgSolver::captured() const { return is_captured_or_wait(matrix_->context().device()); }

PcgSolver::Recorded &PcgSolver::recorded() {
  const std::lock_guard lock(mutex_);
  require(version_ == callers_->version(), SXT_E_STATE,
          "the matrix has new values: solve once before a solve is captured");
  std::unique_ptr<Session> session = engine_->take_idle();
  require(session && !idle_.empty(), SXT_E_STATE,
          "nothing can be allocated while a stream is being captured: solve once before, for each solve that is to be "
          "captured, so that its memory is there");
  if (recorded_.empty()) callers_->follow(*this);
  auto made = std::make_unique<Recorded>();
  made->view = engine_view();
  made->exponent = exponent_;
  made->session = std::move(session);
  made->workspace = std::move(idle_.back());
  idle_.pop_back();
  recorded_.push_back(std::move(made));
  return *recorded_.back();
}

// All that a graph has by value: of the matrix, in every part of the engine, and of the scaling.
std::string PcgSolver::engine_view() const {
  std::string view;
  engine_->prepared().append_views(view);
  const void *const scaling = scaling_;
  return view.append(reinterpret_cast<const char *>(&scaling), sizeof scaling);
}

// After new values: graphs have their storages' arrays, whose values follow, but their views as they were.
void PcgSolver::note_recorded() {
  if (recorded_.empty()) return;
  const std::string view = engine_view();
  for (const auto &each : recorded_)
    if (std::exchange(each->view, view) != view || std::exchange(each->exponent, exponent_) != exponent_)
      graph_is_stale_ = true;
}

// Said once.
void PcgSolver::tell_recorded() {
  require(!std::exchange(graph_is_stale_, false), SXT_E_STATE,
          "a solve was captured with a matrix that new values have given another form (its ",
          "diagonal is no longer all ones, or it is far from 1): capture it anew; solves outside of a capture go on "
          "from the next one");
}

// Replays ask for nothing, so captured solves get new values as soon as the matrix has them. What fails here is tried
// again, and told, by the next solve outside of a capture.
void PcgSolver::values_changed() noexcept {
  try {
    const std::lock_guard lock(mutex_);
    bring_up_to_date();
  } catch (...) {
  }
}

// The kernel that judges every replay, and what it works on.
void PcgSolver::lend_truth(sxt_pcg_record_args &args, PcgWorkspace &work) const {
  args.residual = &truth_->prepared().bound();
  require(!truth_->choice().kernel->table.open, SXT_E_INTERNAL, args.residual->kernel, " needs a session");
  args.residual_scratch = work.truth_scratch.data();
  args.norms = work.norms.as<sxt_residual_norms>();
  if (order_) {
    args.own_x = work.own_x.data();
    args.own_r = work.own_residual.data();
    args.index = order_->index.data();
    args.index_type = order_->index_type;
  } else if (scaling_) {
    args.own_x = work.candidate.data();
    args.own_r = work.residual.data();
  }
}

sxt_pcg_report PcgSolver::record(const void *b, void *x, const SolveSettings &settings) {
  require(engine_ != nullptr, SXT_E_STATE, "the set-up has no plan for the matrix's new values: solve once before");
  const registry::Kernel &engine = *engine_->choice().kernel;
  const auto *ops = static_cast<const sxt_pcg_ops *>(engine.table.ops);
  require(ops && ops->struct_size >= sizeof *ops && ops->record, SXT_E_STATE, "the stream is being captured, and ",
          engine.name(), " asks the host when to stop; the engines pcg.graph.* can be captured");
  require(!narrow_, SXT_E_NOT_SUPPORTED,
          "a matrix held in f32 needs corrections, which a captured solve does not make");
  require(null_space_.empty(), SXT_E_NOT_SUPPORTED, "a solve that is captured leaves no null space out");
  check_settings(settings_, settings);
  Context &context = matrix_->context();
  check_report(context.device(), settings.live);
  const std::int64_t n = matrix_->rows();
  sxt_pcg_report out{};
  out.struct_size = sizeof out;
  out.setup_seconds = setup_seconds_;
  out.predicted_setup_seconds = predicted_setup_s_;
  out.predicted_iterations = expected_iterations_;
  out.reason = n == 0 ? SXT_REASON_CONVERGED : SXT_REASON_NONE;
  if (n == 0) return out;

  Recorded &own = recorded();
  PcgWorkspace &work = *own.workspace;
  const Crossing crossing = this->crossing();
  if (changes_rhs()) crossing.take_in_rhs(b, work.rhs.data());
  if (settings.use_initial_guess) {
    crossing.take_in_guess(x, work.iterate.data());
    shift_by(Operations::of(context), matrix_->value_type(), n, work.iterate.data(), -exponent_);
  }
  sxt_pcg_record_args args{};
  args.h = {sizeof args, SXT_KIND_PCG};
  args.n = n;
  args.b = changes_rhs() ? work.rhs.data() : b;
  args.x = work.iterate.data();
  args.scaling = scaling_;
  args.x_is_zero = !settings.use_initial_guess;
  args.rtol = settings.rtol;
  args.atol = settings.atol;
  args.max_iterations = settings.max_iterations;
  args.own_b = b;
  lend_truth(args, work);
  if (sxt_pcg_report *live = settings.live) {
    args.reason = &live->reason;
    args.iterations = &live->iterations;
    args.confirmations = &live->confirmations;
    args.rhs_norm = &live->rhs_norm;
    args.residual_norm = &live->residual_norm;
    args.relative_residual = &live->true_relative_residual;
  }
  own.session->run_by(ops->record, &args.h);
  crossing.unscale(work.iterate.data(), order_ ? work.own_x.data() : x);
  if (order_) crossing.put_back(work.own_x.data(), x);
  shift_by(Operations::of(context), matrix_->value_type(), n, x, exponent_);
  return out;
}

}  // namespace sextant
