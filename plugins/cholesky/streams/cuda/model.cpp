// SPDX-License-Identifier: BSD-3-Clause
#include "model.hpp"

#include <algorithm>
#include <cmath>

namespace sextant_cholesky_streams {
namespace {

using sextant::plugin::value_bytes;
namespace cuda = sextant::plugin::cuda;

// How many times slower than the peak fronts of each class of widths run on a stream of their own.
constexpr double slower[SXT_CHOLESKY_CLASSES] = {60, 25, 8, 3.5, 2.2, 1.6, 1.4};

// Tasks that one supernode takes: potrf, trsm, and for each ancestor that it reaches a product and modify.
constexpr double ancestors_reached = 3, tasks_published = 2 + 3 * ancestors_reached, tasks_narrow = 2;

// Supernodes that leaf subtrees leave over.
double supernodes_left(const sxt_cholesky_query &q) {
  double all = 0, wide = 0;
  for (int c = 0; c < SXT_CHOLESKY_CLASSES; ++c) {
    all += q.classes[c].count;
    if (c >= 3) wide += q.classes[c].count;
  }
  return wide + 0.03 * (all - wide);
}

// The way from a leaf to a root, which streams do not shorten: separators of halves of halves add up to so many times
// the widest; a panel of 64 columns, and a supernode's tasks with the events between them.
constexpr double widths_on_a_way = 2.4, panel_s = 110e-6, supernode_s = 60e-6;

double chain_s(const sxt_cholesky_query &q) {
  return widths_on_a_way * static_cast<double>(q.max_width) / 64 * panel_s +
         static_cast<double>(q.height) * supernode_s;
}

// A task with its waits and its event takes the host as long as so many launches.
constexpr double launches_a_task = 3.5;

// Launches: the host issues one after the other, so streams do not divide them; they overlap what runs.
double launches_of(const sxt_cholesky_query &q, Mapping mapping) {
  const double supers = static_cast<double>(q.n_super);
  if (mapping == Mapping::published) return 4 + 1.3 * tasks_published * supers;
  double wide = 0;
  for (int c = 3; c < SXT_CHOLESKY_CLASSES; ++c) wide += q.classes[c].count * (1 + std::pow(4.0, c - 3));
  return 10 + 1.3 * tasks_narrow * supernodes_left(q) + 1.3 * tasks_published * wide;
}

}  // namespace

void fill_factor_model(sxt_candidate &candidate, const sxt_cholesky_query &q, const sxt_machine &machine, int streams,
                       Mapping mapping) {
  const double number = static_cast<double>(value_bytes(q.m.q.value_type)), sets = static_cast<double>(q.n_sets);
  const double complex = operations_of(q.m.q.value_type) / 2;
  double flops = 0;
  for (int c = 0; c < SXT_CHOLESKY_CLASSES; ++c) {
    const double alone = slower[c];  // what one stream leaves idle, others fill in part
    flops += q.classes[c].flops * (1 + (alone - 1) / (1 + 0.45 * (std::min(streams, 5) - 1)));
  }
  cuda::CudaCost cost;
  cost.launches = sets * (launches_a_task * launches_of(q, mapping) * (1 + 0.01 * streams) +
                          chain_s(q) / std::max(1e-6, machine.launch_s));
  cost.stream_bytes = sets * number * (3 * static_cast<double>(q.values) + 3 * q.update_values);
  cost.flops = sets * complex * flops;
  cost.working_set = number * static_cast<double>(q.values);
  cuda::fill(candidate, machine, streams, static_cast<std::int64_t>(mapping), 0, cost);
  candidate.units = 0;
  candidate.model_class = static_cast<std::uint32_t>(4 * q.factors + 2 * static_cast<int>(mapping) + (streams > 1));
  candidate.setup_s = 2e-3 + 1e-7 * static_cast<double>(q.n_super) + 4e-9 * static_cast<double>(q.index_size + q.m.nnz);
  std::uint64_t host = 0;
  estimate_bytes(q, streams, &host, &candidate.state_bytes);
}

void fill_solve_model(sxt_candidate &candidate, const sxt_cholesky_query &q, const sxt_machine &machine) {
  const double number = static_cast<double>(value_bytes(q.m.q.value_type)), sets = static_cast<double>(q.n_sets);
  const double rhs = static_cast<double>(std::max<std::int64_t>(1, q.n_rhs)), groups = std::ceil(rhs / 8);
  double panels = 0;
  for (int c = 3; c < SXT_CHOLESKY_CLASSES; ++c) panels += q.classes[c].count + q.classes[c].columns / 64;
  constexpr double column_s = 1e-6;  // a chain of columns in one block of threads
  cuda::CudaCost cost;
  cost.launches = sets * groups * (6 + 3 * panels + 2 * static_cast<double>(q.height)) +
                  sets * groups * 2 * static_cast<double>(q.max_width) * column_s / std::max(1e-6, machine.launch_s);
  cost.stream_bytes =
      sets * number * (2 * groups * static_cast<double>(q.values) + 6 * rhs * static_cast<double>(q.index_size));
  cost.flops = sets * operations_of(q.m.q.value_type) * 2 * rhs * static_cast<double>(q.values);
  cost.working_set = number * static_cast<double>(q.values);
  cuda::fill(candidate, machine, 1, static_cast<std::int64_t>(Mapping::joined), 0, cost);
  candidate.units = 0;
  candidate.model_class = static_cast<std::uint32_t>(32 + q.factors);
  candidate.setup_s = 1e-3 + 1e-7 * static_cast<double>(q.n_super) + 4e-9 * static_cast<double>(q.index_size);
  std::uint64_t host = 0;
  estimate_bytes(q, 1, &host, &candidate.state_bytes);
}

// Without a structure.
void estimate_bytes(const sxt_cholesky_query &q, int streams, std::uint64_t *host, std::uint64_t *device) {
  const double number = static_cast<double>(value_bytes(q.m.q.value_type)), n = static_cast<double>(q.m.rows);
  const double index = static_cast<double>(q.index_size), supers = static_cast<double>(q.n_super);
  const double lists = 4 * index + 4 * n + 24 * supers;
  if (q.phase == SXT_CHOLESKY_FACTOR) {
    const double most = static_cast<double>(q.max_rows), product = std::min(most * most, std::max(most * 64, 1.7e7));
    *device = static_cast<std::uint64_t>(lists + 16 * static_cast<double>(q.m.nnz) + number * 0.3 * q.update_values +
                                         number * streams * product);
  } else {
    const double columns = static_cast<double>(std::clamp<std::int64_t>(q.n_rhs, 1, 8));
    *device = static_cast<std::uint64_t>(lists + 4 * index + number * columns * (n + index));
  }
  *host = static_cast<std::uint64_t>(12 * n + 20 * supers + 4 * index + 1e4);
}

}  // namespace sextant_cholesky_streams
