// SPDX-License-Identifier: BSD-3-Clause
// Several right-hand sides at once: where an engine that multiplies A by all of them in one pass is predicted to end
// sooner than the engine in force, column after column. Each column has callbacks, an end and a report of its own.
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "core/base/types.hpp"
#include "core/device/stage.hpp"
#include "core/pcg/own_stream.hpp"
#include "core/pcg/solve.hpp"
#include "sextant/plugin/kinds/pcg_columns.h"

namespace sextant {

namespace {

// An engine that is chosen for its speed must save this share: its prediction adds up those of many parts.
constexpr double worth_it = 0.9;

}  // namespace

Runner *PcgSolver::columns_engine(std::int32_t columns) {
  Context &context = matrix_->context();
  // Deterministic columns have the bits that they have alone; corrections of a rounded matrix are each column's own.
  if (columns < 2 || columns > most_columns || narrow_ || context.deterministic() || matrix_->rows() == 0 || captured())
    return nullptr;
  const std::lock_guard lock(mutex_);
  if (!engine_) return nullptr;  // planning anew failed: whoever solves is told
  if (const auto known = columns_.find(columns); known != columns_.end()) return known->second.get();
  std::unique_ptr<Runner> &engine = columns_[columns];
  const double alone_s = engine_->choice().run_s;
  // On a device an iteration of all columns is two launches that half overlap: where they alone take longer, asking is
  // spared.
  const double least_s = assumed_iterations_ * context.machine().launch_s;
  const bool hopeless =
      !context.device().on_host() && settings_.engine.empty() && least_s >= worth_it * columns * alone_s;
  if (hopeless) return nullptr;
  sxt_pcg_columns_query query{};
  query.one = engine_query(method_);
  query.one.m.q.h.struct_size = sizeof query;
  query.one.m.q.flags |= SXT_QUERY_COLUMNS;
  query.n_rhs = columns;
  try {
    ChoicePtr choice = engine_selector(method_).select({Query(&query.one.m.q), "pcg-columns", storage_wanted()});
    const double solves = std::max(1.0, settings_.expected_solves);
    const double together = choice->setup_s + choice->storage_s + solves * choice->run_s;
    const bool pays = together < worth_it * solves * columns * alone_s;
    if (pays || choice->forced) engine = std::make_unique<Runner>(context, std::move(choice), &engine_matrix(method_));
  } catch (const Error &problem) {  // no engine takes several, or there is no room: one after the other
    if (problem.status() == SXT_E_MEMORY) return columns_.erase(columns), nullptr;  // there may be room the next time
  } catch (...) {
    columns_.erase(columns);
    throw;
  }
  return engine.get();
}

bool PcgSolver::together_pays(std::int32_t columns) {
  if (columns < 2 || captured()) return false;
  refresh_if_stale();  // what pays may be another engine for new values
  return columns_engine(columns) != nullptr;
}

// What one column works on, and where it stands among those that an engine is needed for.
struct PcgSolver::OpenColumn {
  OpenColumn(PcgSolver &solver, const ArrayColumn &column)
      : lent(solver),
        rhs(staged(solver, column.b, lent.workspace->staged_b, "b")),
        solution(staged(solver, column.x, lent.workspace->staged_x, "x")) {
    rhs.load();
    if (column.settings.use_initial_guess) solution.load();
    solve.emplace(solver, *lent.workspace, rhs.data(), solution.data(), column.settings);
  }
  static Staged staged(PcgSolver &solver, const void *array, DeviceBuffer &buffer, const char *name) {
    const std::uint64_t element = value_bytes(solver.matrix().value_type());
    return {solver.matrix().context().device(),
            array,
            static_cast<std::uint64_t>(solver.matrix().rows()) * element,
            element,
            buffer,
            name};
  }
  LentWorkspace lent;
  Staged rhs, solution;
  std::optional<PcgSolve> solve;
  std::optional<std::size_t> place;
};

void PcgSolver::solve_together(std::span<const ArrayColumn> columns, sxt_pcg_report *reports) {
  refresh_if_stale();
  Runner *engine = columns_engine(static_cast<std::int32_t>(columns.size()));
  if (!engine) {  // planned anew meanwhile
    for (std::size_t j = 0; j < columns.size(); ++j)
      reports[j] = solve_array(columns[j].b, columns[j].x, columns[j].settings);
    return;
  }
  // On the stack: after its first solve a set-up asks for no more memory. Workspaces go back when the stream has ended.
  std::array<std::optional<OpenColumn>, most_columns> open;
  const OwnStream own(matrix_->context().device());
  std::array<sxt_pcg_args, most_columns> args{};
  std::size_t count = 0;
  for (std::size_t j = 0; j < columns.size(); ++j) {
    open[j].emplace(*this, columns[j]);
    reports[j] = {};
    if (open[j]->solve->open(reports[j], args[count])) open[j]->place = count++;
  }
  if (count > 0) {
    sxt_pcg_columns_args all{};
    all.h = {sizeof all, SXT_KIND_PCG};
    all.n = matrix_->rows();
    all.n_rhs = static_cast<std::int32_t>(count);
    all.columns = args.data();
    const auto *ops = static_cast<const sxt_pcg_columns_ops *>(engine->choice().kernel->table.ops);
    engine->run_by(ops->run_columns, &all.h);
  }
  const double an_iteration = engine->choice().run_s / assumed_iterations_ / static_cast<double>(columns.size());
  for (std::size_t j = 0; j < columns.size(); ++j) {
    open[j]->solve->rethrow();
    if (open[j]->place) open[j]->solve->finish(args[*open[j]->place], reports[j]);
    open[j]->solve->close(reports[j], an_iteration);
    open[j]->solution.store(columns[j].x);
  }
  own.finish();
  for (std::size_t j = 0; j < columns.size(); ++j) learn_iterations(reports[j], columns[j].settings.rtol);
}

}  // namespace sextant
