// SPDX-License-Identifier: BSD-3-Clause
// What a solve is predicted to take: the engine's own model at the number of iterations, and what happens around the
// engine, the beginning and the true residuals.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/base/types.hpp"
#include "core/choose/options.hpp"
#include "core/matrix/assemble_internal.hpp"
#include "core/model/cost.hpp"
#include "core/pcg/clock.hpp"
#include "core/pcg/solver.hpp"
#include "core/run/prepared.hpp"

namespace sextant {

namespace {

// Before the engine: norms, the scaled right-hand side, x. For each true residual beside its kernel: x and the residual
// between the caller's scale and the engine's, and the norm in the engine's.
constexpr double calls_at_start = 5, vectors_at_start = 8, calls_a_residual = 4, vectors_a_residual = 7;
constexpr std::uint64_t most_candidates = 64;
// A diagonal entry that is looked for in its row, on one thread.
constexpr double diagonal_row_s = 10e-9;
// An entry whose mirror image is met (one thread) or looked for (several).
double mirror_entry_s(int threads) { return threads < 4 ? 5e-9 : 15e-9 / threads; }

// The model of a chosen engine, asked about another number of iterations; NaN where it has none.
double engine_seconds(Matrix &matrix, const Choice &choice, double iterations) {
  const sxt_kernel &table = choice.kernel->table;
  if (!table.candidates || choice.no_estimate) return NAN;
  Query query = choice.query;
  reinterpret_cast<sxt_pcg_query *>(query.buffer())->iterations = iterations;
  const std::vector<double> values = matrix.features_for(*choice.kernel, 0, true);
  const sxt_features found{values.size(), table.features, values.data()};
  const SlotView slots(choice.slots);
  const Context &context = matrix.context();
  std::vector<sxt_candidate> list(most_candidates);
  std::uint64_t count = 0;
  if (table.candidates(query.get(), &found, &context.machine(), slots.data(), list.data(), most_candidates, &count) !=
      SXT_OK)
    return NAN;
  list.resize(std::min(count, most_candidates));
  for (const sxt_candidate &each : list) {
    // launch[0] may be a length of blocks, which follows from the iterations.
    const auto &chosen = choice.candidate;
    const bool same = each.model_class == chosen.model_class && each.launch[1] == chosen.launch[1] &&
                      each.launch[2] == chosen.launch[2] && each.launch[3] == chosen.launch[3];
    if (same)
      return choice.correction * predict(table, *query.get(), each, context.machine(), context.profile()).seconds;
  }
  return NAN;
}

}  // namespace

void PcgSolver::learn_costs() {
  Matrix &system = engine_matrix(method_);
  const Choice &engine = engine_->choice();
  const double n = assumed_iterations_;
  double once = engine_seconds(system, engine, n), twice = engine_seconds(system, engine, 2 * n);
  const bool known = once >= 0 && twice > once;
  if (engine.by_plan && once > 0) {  // the plan knows what the model was told then
    const double told = engine.run_s / once;
    once *= told, twice *= told;
  }
  costs_.iteration_s = known ? (twice - once) / n : engine.run_s / n;
  costs_.engine_s = known ? std::max(0.0, once - n * costs_.iteration_s) : 0;
  const sxt_machine &machine = matrix_->context().machine();
  const double vector = static_cast<double>(matrix_->rows()) * static_cast<double>(value_bytes(matrix_->value_type())),
               call = matrix_->context().device().on_host() ? call_on_host_s : call_on_device_s;
  const double pass_s = vector / std::max(1.0, stream_rate(machine, 4 * vector, machine.units));
  // Vectors in another order: two at the start, two for each true residual, by isolated accesses.
  const double move_s = order_ ? 2 * (call + 3 * pass_s) : 0;
  costs_.start_s = calls_at_start * call + vectors_at_start * pass_s + move_s;
  costs_.residual_s = truth_->choice().run_s + calls_a_residual * call + vectors_a_residual * pass_s + move_s;
}

// Storages and features are counted by the matrices that hold them.
void PcgSolver::count_setup(const Choice &built) { predicted_setup_s_ += built.setup_s - built.features_s; }

// Of the checks of values and diagonal.
double PcgSolver::looking_seconds() const {
  const CsrArrays &csr = matrix_->csr();
  const int asked = matrix_->context().model_threads();
  const auto rows = static_cast<double>(csr.rows), entries = static_cast<double>(csr.nnz);
  const double diagonal_s = rows * diagonal_row_s / detail::useful_threads(asked, csr.rows);
  if (!compares()) return diagonal_s;
  return diagonal_s + entries * mirror_entry_s(detail::useful_threads(asked, csr.nnz));
}

// Of one question about engines that is put to all that there are, or to the one that was named; on the host it is
// short.
double PcgSolver::asking_seconds() const {
  if (matrix_->context().device().on_host()) return 0;
  if (settings_.engine.empty()) return asking_composed_s;
  for (const registry::Kernel *kernel :
       matrix_->context().scope().kernels(SXT_KIND_PCG, matrix_->context().device_name()))
    if (kernel->name() == settings_.engine) {
      const std::uint64_t slots = kernel->table.n_slots;
      return slots > 1 ? asking_named_s : slots > 0 ? asking_with_m_s : 0;
    }
  return 0;
}

void PcgSolver::predicted_parts(sxt_pcg_report &report) const {
  report.predicted_iteration_seconds = costs_.iteration_s;
  report.predicted_residual_seconds = costs_.residual_s;
}

double PcgSolver::predicted_solve_s(double iterations, double confirmations) const {
  return costs_.start_s + confirmations * costs_.residual_s + costs_.engine_s + iterations * costs_.iteration_s;
}

}  // namespace sextant
