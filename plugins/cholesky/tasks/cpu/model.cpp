// SPDX-License-Identifier: BSD-3-Clause
#include "model.hpp"

#include <algorithm>
#include <cmath>

#include "session.hpp"

namespace sextant_cholesky_tasks {
namespace {

using namespace sextant::plugin;

// How many times slower than the peak fronts of each class of widths run.
constexpr double slower[SXT_CHOLESKY_CLASSES] = {8, 4, 2.6, 2, 1.7, 1.6, 1.6};

// How far threads are from sharing the work evenly.
double imbalance(const sxt_cholesky_query &q, int threads) {
  if (threads == 1 || q.flops <= 0) return 1;
  const double chain = q.critical_flops / q.flops;  // of which large fronts share most
  return 1 + 0.03 * (threads - 1) + 0.1 * chain * (threads - 1);
}

}  // namespace

void fill_model(sxt_candidate &candidate, const sxt_cholesky_query &q, const sxt_machine &, int threads, bool apart) {
  const double number = static_cast<double>(value_bytes(q.m.q.value_type)), sets = static_cast<double>(q.n_sets);
  const double complex = multiply_add_flops(q.m.q.value_type) / 2, values = static_cast<double>(q.values);
  const double few = q.classes[0].count, more = static_cast<double>(q.n_super) - few;  // supernodes by their columns
  const double rows = static_cast<double>(q.index_size);
  const double rhs = static_cast<double>(q.n_rhs);
  CpuCost cost;
  double steps = 0;
  if (q.phase == SXT_CHOLESKY_SOLVE) {
    const double groups = std::ceil(rhs / 32);
    cost.stream_bytes = sets * (2 * values * number * groups + 8 * rows * rhs + 4 * rows * groups);
    cost.flops = sets * complex * 4 * values * rhs * 1.8;
    steps = sets * ((80 * few + 450 * more) * groups + 4 * rows * rhs);
    cost.working_set = sets * values * number;
  } else {
    double flops = 0;
    for (int c = 0; c < SXT_CHOLESKY_CLASSES; ++c) flops += slower[c] * q.classes[c].flops;
    const double scale = q.phase == SXT_CHOLESKY_INVERSE ? 2 : 1;
    cost.flops = sets * complex * flops * scale;
    steps = sets * (60 * few + 600 * more + 1.0 * (q.update_values + values) * number / 8) * scale;
    cost.stream_bytes = sets * (values + q.update_values) * number * scale;
    cost.working_set = (sets * values + q.stack_values) * number;
  }
  const double work = factor_work(q.flops, values, q.update_values, static_cast<double>(q.n_super));
  const std::int64_t useful = useful_threads(q.phase, work, values, std::clamp<std::int64_t>(q.n_rhs, 1, most_columns));
  const int team = static_cast<int>(std::min<std::int64_t>(threads, apart ? q.n_sets : useful));
  cost.imbalance = apart ? std::ceil(sets / team) * team / sets : imbalance(q, team);
  fill(candidate, team, cost);
  candidate.launch[0] = threads;
  candidate.terms[5] = steps * cost.imbalance;
  candidate.n_terms = 6;
  candidate.model_class = static_cast<std::uint32_t>(4 * q.phase + 2 * (q.factors - 1) + (team > 1));
  candidate.setup_s = 3e-7 * (few + more) + 6e-9 * rows + 3e-9 * static_cast<double>(q.m.nnz);
}

}  // namespace sextant_cholesky_tasks
