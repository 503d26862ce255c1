// SPDX-License-Identifier: BSD-3-Clause
// What a solve is predicted to take: the engine's own model at the number of iterations, and what happens around the
// engine, the beginning and the true residuals.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/base/entered.hpp"
#include "core/base/types.hpp"
#include "core/choose/options.hpp"
#include "core/model/cost.hpp"
#include "core/pcg/clock.hpp"
#include "core/pcg/planning.hpp"
#include "core/run/prepared.hpp"
#include "sextant/plugin/kinds/pcg.h"

namespace sextant {

namespace {

// Before the engine: norms, the scaled right-hand side, x. For each true residual beside its kernel: x and the residual
// between the caller's scale and the engine's, and the norm in the engine's.
constexpr double calls_at_start = 5, vectors_at_start = 8, calls_a_residual = 4, vectors_a_residual = 7;
constexpr std::uint64_t most_candidates = 64;
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
  std::string why;
  const auto ask = [&] {
    return table.candidates(query.get(), &found, &context.machine(), slots.data(), list.data(), most_candidates,
                            &count);
  };
  if (model_entered(ask, why) != SXT_OK) return NAN;
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

SolveCosts predict_solve(const PcgProblem &problem, Matrix &seen, const Choice &engine, const Choice &truth,
                         double assumed_iterations, bool ordered) {
  SolveCosts out;
  const double n = assumed_iterations;
  double once = engine_seconds(seen, engine, n), twice = engine_seconds(seen, engine, 2 * n);
  const bool known = once >= 0 && twice > once;
  if (engine.by_plan && once > 0) {  // the plan knows what the model was told then
    const double told = engine.run_s / once;
    once *= told, twice *= told;
  }
  out.iteration_s = known ? (twice - once) / n : engine.run_s / n;
  out.engine_s = known ? std::max(0.0, once - n * out.iteration_s) : 0;
  const sxt_machine &machine = problem.context().machine();
  const double vector = static_cast<double>(problem.matrix().rows()) *
                        static_cast<double>(value_bytes(problem.matrix().value_type())),
               call = problem.on_host() ? call_on_host_s : call_on_device_s;
  const double pass_s = vector / std::max(1.0, stream_rate(machine, 4 * vector, machine.units));
  // Vectors in another order: two at the start, two for each true residual, by isolated accesses.
  const double move_s = ordered ? 2 * (call + 3 * pass_s) : 0;
  out.start_s = calls_at_start * call + vectors_at_start * pass_s + move_s;
  out.residual_s = truth.run_s + calls_a_residual * call + vectors_a_residual * pass_s + move_s;
  return out;
}

double asking_seconds(const PcgProblem &problem) {
  if (problem.on_host()) return 0;  // there it is short
  const std::string &engine = problem.settings.engine;
  if (engine.empty()) return asking_composed_s;
  const Context &context = problem.context();
  for (const registry::Kernel *kernel : context.scope().kernels(SXT_KIND_PCG, context.device_name()))
    if (kernel->name() == engine) {
      const std::uint64_t slots = kernel->table.n_slots;
      return slots > 1 ? asking_named_s : slots > 0 ? asking_with_m_s : 0;
    }
  return 0;
}

}  // namespace sextant
