// SPDX-License-Identifier: BSD-3-Clause
#include "core/pcg/block.hpp"

#include <array>
#include <cstdint>
#include <optional>

#include "core/base/shortage.hpp"
#include "core/base/types.hpp"
#include "core/device/stage.hpp"
#include "core/pcg/choosing.hpp"
#include "core/pcg/own_stream.hpp"
#include "core/pcg/setup.hpp"
#include "core/pcg/solve.hpp"
#include "sextant/plugin/kinds/pcg_columns.h"

namespace sextant {

namespace {

// An engine that is chosen for its speed must save this share: its prediction adds up those of many parts.
constexpr double worth_it = 0.9;

// What one column works on, and where it stands among those that an engine is needed for.
struct OpenColumn {
  OpenColumn(PcgSetup &setup, const ArrayColumn &column)
      : lent(setup.pool(), setup.problem().context().device(), setup.workspace_shape()),
        rhs(staged(setup, column.b, lent->staged_b, "b")),
        solution(staged(setup, column.x, lent->staged_x, "x")) {
    rhs.load();
    if (column.settings.use_initial_guess) solution.load();
    solve.emplace(setup, *lent, rhs.data(), solution.data(), column.settings);
  }
  static Staged staged(PcgSetup &setup, const void *array, DeviceBuffer &buffer, const char *name) {
    const Matrix &matrix = setup.problem().matrix();
    const std::uint64_t element = value_bytes(matrix.value_type());
    return {
        matrix.context().device(), array, static_cast<std::uint64_t>(matrix.rows()) * element, element, buffer, name};
  }
  LentWorkspace lent;
  Staged rhs, solution;
  std::optional<PcgSolve> solve;
  std::optional<std::size_t> place;
};

}  // namespace

Runner *ColumnEngines::get(const PcgProblem &problem, const EngineSystem &system, const Choice &one,
                           const Expectation &expected, const LeftOut &left_out, std::int32_t columns) {
  Context &context = problem.context();
  // Deterministic columns have the bits that they have alone.
  if (columns < 2 || columns > most_columns || context.deterministic() || problem.matrix().rows() == 0) return nullptr;
  const std::lock_guard lock(mutex_);
  if (const auto known = engines_.find(columns); known != engines_.end()) return known->second.get();
  std::unique_ptr<Runner> &engine = engines_[columns];
  // On a device an iteration of all columns is two launches that half overlap: where they alone take longer, asking is
  // spared.
  const double least_s = expected.assumed * context.machine().launch_s;
  const bool hopeless =
      !problem.on_host() && problem.settings.engine.empty() && least_s >= worth_it * columns * one.run_s;
  if (hopeless) return nullptr;
  sxt_pcg_columns_query query{};
  query.one = engine_query(problem, system, system.method(), expected);
  query.one.m.q.h.struct_size = sizeof query;
  query.one.m.q.flags |= SXT_QUERY_COLUMNS;
  query.n_rhs = columns;
  try {
    ChoicePtr choice = engine_selector(problem, system, system.method(), {.left_out = left_out})
                           .select({Query(&query.one.m.q), "pcg-columns", storage_wanted(problem.settings, context)});
    const double together_s = total_of(*choice, problem.solves());
    const bool pays = together_s < worth_it * problem.solves() * columns * one.run_s;
    if (pays || choice->forced) engine = std::make_unique<Runner>(context, std::move(choice), &system.seen());
  } catch (const Error &error) {  // no engine takes several, or there is no room: one after the other
    if (out_of_memory(error)) return engines_.erase(columns), nullptr;  // there may be room the next time
  } catch (...) {
    engines_.erase(columns);
    throw;
  }
  return engine.get();
}

void ColumnEngines::refresh() {
  const std::lock_guard lock(mutex_);
  for (const auto &[columns, engine] : engines_)
    if (engine) engine->prepared().refresh_if_stale();
}

void ColumnEngines::drop() {
  const std::lock_guard lock(mutex_);
  engines_.clear();
}

void ColumnEngines::append_choices(std::vector<ChoicePtr> &choices) const {
  const std::lock_guard lock(mutex_);
  for (const auto &[columns, engine] : engines_)
    if (engine) choices.push_back(engine->prepared().shared_choice());
}

void solve_together(PcgSetup &setup, Runner &engine, std::span<const ArrayColumn> columns, sxt_pcg_report *reports) {
  // On the stack: after its first solve a set-up asks for no more memory. Workspaces go back when the stream has ended.
  std::array<std::optional<OpenColumn>, most_columns> open;
  const OwnStream own(setup.problem().context().device());
  std::array<sxt_pcg_args, most_columns> args{};
  std::size_t count = 0;
  for (std::size_t j = 0; j < columns.size(); ++j) {
    open[j].emplace(setup, columns[j]);
    reports[j] = {};
    if (open[j]->solve->open(reports[j], args[count])) open[j]->place = count++;
  }
  if (count > 0) {
    sxt_pcg_columns_args all{};
    all.h = {sizeof all, SXT_KIND_PCG};
    all.n = setup.problem().matrix().rows();
    all.n_rhs = static_cast<std::int32_t>(count);
    all.columns = args.data();
    const auto *ops = static_cast<const sxt_pcg_columns_ops *>(engine.choice().kernel->table.ops);
    engine.run_by(ops->run_columns, &all.h);
  }
  const double an_iteration = engine.choice().run_s / setup.expected().assumed / static_cast<double>(columns.size());
  for (std::size_t j = 0; j < columns.size(); ++j) {
    open[j]->solve->rethrow();
    if (open[j]->place) {
      check_ending(engine.choice(), args[*open[j]->place]);
      open[j]->solve->finish(args[*open[j]->place], reports[j]);
    }
    open[j]->solve->close(reports[j], an_iteration);
    open[j]->solution.store(columns[j].x);
  }
  own.finish();
}

}  // namespace sextant
