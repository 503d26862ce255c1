// SPDX-License-Identifier: BSD-3-Clause
#include "model.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "plugins/cholesky/shared/terms.hpp"

namespace sextant_cholesky_streams {
namespace {

using sextant::plugin::value_bytes;
using sextant_cholesky::put_terms;

// How many times slower than the peak fronts of each class of widths run on a stream of their own.
constexpr double slower[SXT_CHOLESKY_CLASSES] = {60, 25, 8, 3.5, 2.2, 1.6, 1.4};

// A task with its waits and its event takes the host as long as so many launches.
constexpr double launches_a_task = 3.5;

// What one thread of the host issues: tasks of each supernode, and of each ancestor that it reaches. As published all
// supernodes are issued alone; joined, the large ones, of which narrow ones take two launches.
struct Tasks {
  double own = 0, ancestors = 0;
};
Tasks tasks_of(const sxt_cholesky_query &q, Mapping mapping) {
  double wide = 0, pairs = 0;  // supernodes of several block columns; products among these
  for (int c = 3; c < SXT_CHOLESKY_CLASSES; ++c) {
    const sxt_front_class &front = q.classes[c];
    const double blocks = front.count > 0 ? std::ceil(front.columns / front.count / static_cast<double>(q.block)) : 0;
    wide += front.count, pairs += front.count * blocks * (blocks + 1) / 2;
  }
  Tasks out;
  if (mapping == Mapping::published) {
    out.own = 2 * static_cast<double>(q.n_super) + 2 * pairs;
    out.ancestors = 3 * std::max(q.large_ancestors, static_cast<double>(q.n_super));
  } else {
    const double narrow = std::max(0.0, q.large_count - wide);
    out.own = 2 * narrow + 2 * wide + 2 * pairs;
    out.ancestors = q.large_count > 0 ? 3 * q.large_ancestors * wide / q.large_count : 0;
  }
  return out;
}

}  // namespace

// Seconds a unit on the GPUs that were measured; standard terms follow the machine.
const double stream_defaults[] = {NAN, NAN, NAN, 60e-6, 1.7e-6, NAN, NAN, NAN, NAN, NAN, NAN};

void fill_factor_model(sxt_candidate &candidate, const sxt_cholesky_query &q, int streams, Mapping mapping) {
  const double number = static_cast<double>(value_bytes(q.m.q.value_type)), sets = static_cast<double>(q.n_sets);
  const double complex = sets * operations_of(q.m.q.value_type) / 2;
  double flops[4] = {};  // of fronts of up to 16, 64, 256 and more columns
  for (int c = 0; c < SXT_CHOLESKY_CLASSES; ++c) {
    // What one stream leaves idle, others fill in part.
    const double alone = 1 + (slower[c] - 1) / (1 + 0.45 * (std::min(streams, 5) - 1));
    flops[c < 2 ? 0 : std::min(c - 1, 3)] += q.classes[c].flops * alone;
  }
  const Tasks tasks = tasks_of(q, mapping);
  put_terms(candidate, stream_terms,
            {sets * 10, sets * launches_a_task * tasks.own, sets * launches_a_task * tasks.ancestors,
             sets * static_cast<double>(q.height), sets * (q.narrow_level_columns + q.wide_level_columns),
             sets * number * 3 * static_cast<double>(q.values), sets * number * 3 * q.update_values, complex * flops[0],
             complex * flops[1], complex * flops[2], complex * flops[3]});
  candidate.launch[0] = streams, candidate.launch[1] = static_cast<std::int64_t>(mapping);
  candidate.working_set_bytes = number * static_cast<double>(q.values);
  const std::uint32_t width = streams == 1 ? 0 : streams < 8 ? 1 : 2;
  candidate.model_class = 4 * static_cast<std::uint32_t>(mapping) + width;
  candidate.setup_s = 2e-3 + 1e-7 * static_cast<double>(q.n_super) + 4e-9 * static_cast<double>(q.index_size + q.m.nnz);
  std::uint64_t host = 0;
  estimate_bytes(q, streams, &host, &candidate.state_bytes);
}

// Launches by levels and by panels of 64 columns of wide fronts, each way; a chain of columns in one block of threads.
void fill_solve_model(sxt_candidate &candidate, const sxt_cholesky_query &q) {
  const double number = static_cast<double>(value_bytes(q.m.q.value_type)), sets = static_cast<double>(q.n_sets);
  const double rhs = static_cast<double>(std::max<std::int64_t>(1, q.n_rhs)), groups = std::ceil(rhs / 8);
  double panels = 0, values[4] = {};
  for (int c = 0; c < SXT_CHOLESKY_CLASSES; ++c) {
    if (c >= 3) panels += q.classes[c].count + q.classes[c].columns / 64;
    values[c < 2 ? 0 : std::min(c - 1, 3)] += q.classes[c].values;
  }
  const double times = sets * groups, operations = sets * operations_of(q.m.q.value_type) * 2 * rhs;
  constexpr double level = 2 * 2.5 / 60, column = 2 / 1.7;  // of what a factorisation takes for one
  put_terms(candidate, stream_terms,
            {times * 6, times * 3 * panels, times * q.large_count * 0.01, times * level * static_cast<double>(q.height),
             times * column * (q.narrow_level_columns + q.wide_level_columns),
             sets * number * 2 * groups * static_cast<double>(q.values),
             sets * number * 6 * rhs * static_cast<double>(q.index_size), operations * values[0],
             operations * values[1], operations * values[2], operations * values[3]});
  candidate.launch[0] = 1, candidate.launch[1] = static_cast<std::int64_t>(Mapping::joined);
  candidate.working_set_bytes = number * static_cast<double>(q.values);
  candidate.model_class = 32 + (rhs > 1);
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
