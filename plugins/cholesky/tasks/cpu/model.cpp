// SPDX-License-Identifier: BSD-3-Clause
#include "model.hpp"

#include <algorithm>
#include <cmath>

#include "session.hpp"
#include "sextant/sdk/cholesky.hpp"

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

// Solves of so few right-hand sides stand in columns, others across: two kinds of loops.
constexpr std::int64_t few_columns = 2;

struct Terms {
  double bytes = 0, columns = 0, numbers = 0, rows = 0, narrow = 0, fronts = 0;
  double flops[3] = {};  // of fronts of up to 16, 64 and more columns
};

int class_of_flops(int c) { return std::clamp(c - 1, 0, 2); }

Terms solve_terms(const sxt_cholesky_query &q) {
  const double number = static_cast<double>(value_bytes(q.m.q.value_type));
  const double rhs = static_cast<double>(std::max<std::int64_t>(1, q.n_rhs)), groups = std::ceil(rhs / most_columns);
  Terms out;
  out.bytes = 2 * static_cast<double>(q.values) * number * groups + 4 * static_cast<double>(q.index_size) * groups;
  out.columns = static_cast<double>(q.m.rows) * rhs;  // into the order of elimination and back
  out.rows = 4 * static_cast<double>(q.index_size) * rhs;
  out.narrow = 80 * q.classes[0].count * groups;
  out.fronts = 450 * (static_cast<double>(q.n_super) - q.classes[0].count) * groups;
  for (int c = 0; c < SXT_CHOLESKY_CLASSES; ++c) out.flops[class_of_flops(c)] += 4 * 1.8 * q.classes[c].values * rhs;
  return out;
}

Terms factor_terms(const sxt_cholesky_query &q) {
  const double number = static_cast<double>(value_bytes(q.m.q.value_type));
  const double scale = q.phase == SXT_CHOLESKY_INVERSE ? 2 : 1;
  Terms out;
  out.bytes = scale * static_cast<double>(q.values) * number;
  out.columns = scale * 10 * static_cast<double>(q.m.rows);
  out.numbers = scale * q.update_values * number / 8;
  out.rows = scale * 4 * static_cast<double>(q.index_size);
  out.narrow = scale * 60 * q.classes[0].count;
  out.fronts = scale * 600 * (static_cast<double>(q.n_super) - q.classes[0].count);
  for (int c = 0; c < SXT_CHOLESKY_CLASSES; ++c) out.flops[class_of_flops(c)] += scale * slower[c] * q.classes[c].flops;
  return out;
}

}  // namespace

void fill_model(sxt_candidate &candidate, const sxt_cholesky_query &q, int threads, bool apart) {
  const bool solves = q.phase == SXT_CHOLESKY_SOLVE;
  const double number = static_cast<double>(value_bytes(q.m.q.value_type)), sets = static_cast<double>(q.n_sets);
  const double values = static_cast<double>(q.values), complex = multiply_add_flops(q.m.q.value_type) / 2;
  const Terms terms = solves ? solve_terms(q) : factor_terms(q);
  const double work = factor_work(q.flops, values, q.update_values, static_cast<double>(q.n_super));
  const std::int64_t useful = useful_threads(q.phase, work, values, std::clamp<std::int64_t>(q.n_rhs, 1, most_columns));
  const std::int64_t most = apart ? q.n_sets : useful * std::max<std::int64_t>(q.n_sets, 1);
  const int team = static_cast<int>(std::min<std::int64_t>(threads, most));
  const double busiest = apart ? std::ceil(sets / team) * team : sets * imbalance(q, team);
  const double operations = busiest * complex, weighted = q.factors == SXT_FACTORS_LDLH ? operations : 0;
  sextant_cholesky::put_terms(
      candidate, task_terms,
      {1, static_cast<double>(team > 1), busiest * terms.bytes, busiest * terms.columns, busiest * terms.numbers,
       busiest * terms.rows, busiest * terms.narrow, busiest * terms.fronts, operations * terms.flops[0],
       operations * terms.flops[1], operations * terms.flops[2], weighted * (solves ? 0 : 0.2 * terms.flops[0])});
  candidate.launch[0] = threads;
  candidate.units = team;
  candidate.working_set_bytes = (values + (solves ? 0 : q.stack_values)) * number;
  const int loops = solves && q.n_rhs > few_columns;
  candidate.model_class = static_cast<std::uint32_t>(4 * q.phase + 2 * loops + (team > 1));
  candidate.setup_s = 3e-7 * static_cast<double>(q.n_super) + 6e-9 * static_cast<double>(q.index_size) +
                      3e-9 * static_cast<double>(q.m.nnz);
}

}  // namespace sextant_cholesky_tasks
