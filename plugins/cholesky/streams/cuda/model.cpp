// SPDX-License-Identifier: BSD-3-Clause
#include "model.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "sextant/sdk/cholesky.hpp"

namespace sextant_cholesky_streams {
namespace {

using sextant::plugin::value_bytes;
using sextant_cholesky::put_terms;

// How many times slower than the peak fronts of each class of widths run on a stream of their own.
constexpr double slower[SXT_CHOLESKY_CLASSES] = {60, 25, 8, 3.5, 2.2, 1.6, 1.4};

// Up to 64 columns; and the flops that a leaf subtree has at most, which one block of threads works on.
constexpr int narrow_classes = 3;
constexpr double subtree_flops = 4e6;
constexpr double one_block = 4000;  // how many times slower than a whole device it is

// What the largest leaf subtree has of the narrow fronts, or an estimate: all, where no supernode is too large to be
// joined; else so many that they take its flops.
struct Leaves {
  double columns = 0, fronts = 0, flops = 0;
};
Leaves largest_subtree(const sxt_cholesky_query &q) {
  Leaves out;
  for (int c = 0; c < narrow_classes; ++c) {
    const sxt_front_class &front = q.classes[c];
    out.columns += front.columns, out.fronts += front.count, out.flops += front.flops;
  }
  if (q.large_count > 0 && out.flops > subtree_flops) {
    const double share = subtree_flops / out.flops;
    out.columns *= share, out.fronts *= share, out.flops = subtree_flops;
  }
  return out;
}

// Wide supernodes, and their panels of 64 columns.
struct Wide {
  double count = 0, panels = 0;
};
Wide wide_supernodes(const sxt_cholesky_query &q) {
  Wide out;
  for (int c = narrow_classes; c < SXT_CHOLESKY_CLASSES; ++c)
    out.count += q.classes[c].count, out.panels += q.classes[c].count + q.classes[c].columns / 64;
  return out;
}

}  // namespace

// Seconds a unit on an H200; standard terms follow the machine.
const double stream_defaults[] = {20e-6, 10e-6, 13e-6, 6e-6, 1.8e-6, 0.62e-6, 2.2e-6, NAN, NAN, NAN, NAN, NAN};

void fill_factor_model(sxt_candidate &candidate, const sxt_cholesky_query &q, int streams, Mapping mapping) {
  const double number = static_cast<double>(value_bytes(q.m.q.value_type)), sets = static_cast<double>(q.n_sets);
  const double complex = sets * operations_of(q.m.q.value_type) / 2;
  const bool joined = mapping == Mapping::joined;
  const Wide wide = wide_supernodes(q);
  const Leaves subtree = joined ? largest_subtree(q) : Leaves{};
  double flops[2] = {};  // of fronts of up to 256 and more columns
  for (int c = 0; c < SXT_CHOLESKY_CLASSES; ++c) {
    // What one stream leaves idle, others fill in part.
    const double alone = 1 + (slower[c] - 1) / (1 + 0.45 * (std::min(streams, 5) - 1));
    flops[c > narrow_classes] += q.classes[c].flops * alone;
  }
  // Issued one by one: all supernodes as published, each with the ancestors that it reaches; joined, the large ones.
  const double tasks = joined ? q.large_count : static_cast<double>(q.n_super);
  const double part = q.large_count > 0 ? wide.count / q.large_count : 0;
  const double ancestors = joined ? part * q.large_ancestors : std::max(q.large_ancestors, tasks);
  const double levels = joined && q.large_count == 0 ? 0 : static_cast<double>(q.height);
  put_terms(candidate, stream_terms,
            {sets, sets * tasks, sets * ancestors, sets * levels, sets * q.wide_level_columns, sets * subtree.columns,
             sets * subtree.fronts, sets * number * static_cast<double>(q.values), sets * number * q.update_values,
             complex * one_block * subtree.flops, complex * flops[0], complex * flops[1]});
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
  const double times = sets * groups, operations = sets * operations_of(q.m.q.value_type) * 2 * rhs;
  const Leaves subtree = largest_subtree(q);
  double values[2] = {};
  for (int c = 0; c < SXT_CHOLESKY_CLASSES; ++c) values[c > narrow_classes] += q.classes[c].values;
  put_terms(
      candidate, stream_terms,
      {times, times * wide_supernodes(q).panels, 0, q.large_count > 0 ? times * static_cast<double>(q.height) : 0,
       times * q.wide_level_columns, times * subtree.columns, times * subtree.fronts,
       times * number * 2 * static_cast<double>(q.values), sets * number * 6 * rhs * static_cast<double>(q.index_size),
       0, operations * values[0], operations * values[1]});
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
