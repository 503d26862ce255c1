// SPDX-License-Identifier: BSD-3-Clause
#include "model.hpp"

#include <algorithm>
#include <cmath>

namespace sextant_cholesky_levels {
namespace {

using sextant::plugin::value_bytes;
namespace cuda = sextant::plugin::cuda;

// How many times slower than the peak fronts of each class of widths run, beside the chain of their panels.
constexpr double slower[SXT_CHOLESKY_CLASSES] = {45, 19, 6, 3, 1.65, 1.2, 1.05};

// The time of an operation over one of f64 on tensor cores.
double slower_than_f64(sxt_value_type type, std::int64_t products) {
  if (type == SXT_F64) return 1;
  return products == 1 ? 0.4 : products == 3 ? 0.7 : 1.5;
}

// Columns on the way from a leaf to a root: separators of halves of halves add up to so many times the widest.
constexpr double widths_on_a_way = 2.4;

constexpr double little = 256 << 20;  // bytes
constexpr double most_sets = 32768;   // rows of blocks of a launch

// Sets that fit, of so many bytes each.
std::int64_t sets_of(const sxt_cholesky_query &q, double bytes) {
  const double factors = static_cast<double>(q.n_sets) * static_cast<double>(q.values) *
                         static_cast<double>(value_bytes(q.m.q.value_type));
  const double fit = std::floor(std::max(little, factors / 2) / std::max(bytes, 1.0));
  return std::max<std::int64_t>(1,
                                static_cast<std::int64_t>(std::min({fit, most_sets, static_cast<double>(q.n_sets)})));
}

}  // namespace

Room factor_room(const sxt_cholesky_query &q, double update_values) {
  return {
      sets_of(q, update_values * static_cast<double>(value_bytes(q.m.q.value_type)) + static_cast<double>(q.m.rows)),
      1};
}

// Numbers that the inverses of triangles take, without a structure: fronts of up to 16 columns have hardly any.
static double inverses_of(const sxt_cholesky_query &q) {
  double columns = 0;
  for (int c = 2; c < SXT_CHOLESKY_CLASSES; ++c) columns += q.classes[c].columns;
  return solve_columns * columns;
}

Room solve_room(const sxt_cholesky_query &q) {
  const double number = static_cast<double>(value_bytes(q.m.q.value_type));
  const double column = number * (2 * static_cast<double>(q.m.rows) + static_cast<double>(q.index_size));
  Room room;
  if (q.n_rhs > 1) {  // whole groups
    const double most = std::max(little, number * static_cast<double>(q.values) / 2) / std::max(column, 1.0);
    const std::int64_t groups = std::clamp<std::int64_t>(static_cast<std::int64_t>(std::min(most, 1e3)) / tile_columns,
                                                         1, most_columns / tile_columns);
    room.columns = std::min((q.n_rhs + tile_columns - 1) / tile_columns, groups) * tile_columns;
    if (q.n_rhs < tile_columns) room.columns = q.n_rhs;
  }
  room.sets = sets_of(q, static_cast<double>(room.columns) * column + number * inverses_of(q));
  return room;
}

void fill_factor_model(sxt_candidate &candidate, const sxt_cholesky_query &q, const sxt_machine &machine,
                       const Widths &widths) {
  const double number = static_cast<double>(value_bytes(q.m.q.value_type)), sets = static_cast<double>(q.n_sets);
  const double complex = operations_of(q.m.q.value_type) / 2, block = static_cast<double>(widths.block);
  double flops = 0;
  for (int c = 0; c < SXT_CHOLESKY_CLASSES; ++c) flops += q.classes[c].flops * slower[c];
  flops *= slower_than_f64(q.m.q.value_type, widths.products);
  const double columns = widths_on_a_way * static_cast<double>(q.max_width);
  // A chain of 64 pivots with the products before the next; one level of small fronts.
  constexpr double panel_s = 45e-6, level_s = 17e-6;
  const double chain_s = columns / panel_columns * panel_s + static_cast<double>(q.height) * level_s;
  cuda::CudaCost cost;
  const double rounds = std::ceil(sets / static_cast<double>(factor_room(q, 0.6 * q.update_values).sets));
  cost.launches = rounds * (5 + columns / block + chain_s / std::max(1e-6, machine.launch_s));
  cost.stream_bytes = sets * number * (3 * static_cast<double>(q.values) + 3 * q.update_values);
  cost.flops = sets * complex * flops * (1 + 16 / block);
  cost.working_set = number * static_cast<double>(q.values);
  cuda::fill(candidate, machine, widths.block, widths.most_small, widths.products, cost);
  candidate.units = 0;
  candidate.model_class = static_cast<std::uint32_t>(q.factors);
  candidate.setup_s = 3e-3 + 2e-7 * static_cast<double>(q.n_super) + 8e-9 * static_cast<double>(q.index_size + q.m.nnz);
  std::uint64_t host = 0;
  estimate_bytes(q, &host, &candidate.state_bytes);
}

void fill_solve_model(sxt_candidate &candidate, const sxt_cholesky_query &q, const sxt_machine &machine) {
  const double number = static_cast<double>(value_bytes(q.m.q.value_type)), sets = static_cast<double>(q.n_sets);
  const Room room = solve_room(q);
  const double rhs = static_cast<double>(std::max<std::int64_t>(1, q.n_rhs)),
               columns = static_cast<double>(room.columns), groups = std::ceil(rhs / columns);
  const double way = widths_on_a_way * static_cast<double>(q.max_width);
  // Column blocks one after the other; a level of the tree; a front, as many are at work at once.
  constexpr double block_s = 1.5e-6, level_s = 1.9e-6, front_s = 2e-9;
  const double chain_s = 2 * (way / solve_columns * block_s + static_cast<double>(q.height) * level_s +
                              static_cast<double>(q.n_super) * front_s);
  cuda::CudaCost cost;
  const double rounds = std::ceil(sets / static_cast<double>(room.sets));
  cost.launches = rounds * groups * (10 + chain_s / std::max(1e-6, machine.launch_s));
  cost.stream_bytes =
      sets * number * (2.6 * groups * static_cast<double>(q.values) + 6 * rhs * static_cast<double>(q.index_size));
  cost.flops = sets * operations_of(q.m.q.value_type) * 2 * rhs * static_cast<double>(q.values);
  cost.working_set = number * static_cast<double>(q.values);
  cuda::fill(candidate, machine, 1, 0, 0, cost);
  candidate.units = 0;
  candidate.model_class = static_cast<std::uint32_t>(32 + q.factors);
  candidate.setup_s = 1e-3 + 2e-7 * static_cast<double>(q.n_super) + 8e-9 * static_cast<double>(q.index_size);
  std::uint64_t host = 0;
  estimate_bytes(q, &host, &candidate.state_bytes);
}

void estimate_bytes(const sxt_cholesky_query &q, std::uint64_t *host, std::uint64_t *device) {
  const double number = static_cast<double>(value_bytes(q.m.q.value_type)), n = static_cast<double>(q.m.rows);
  const double index = static_cast<double>(q.index_size), supers = static_cast<double>(q.n_super);
  const double lists = 4 * index + 4 * n + (24 + sizeof(Front) + sizeof(Child)) * supers;
  if (q.phase == SXT_CHOLESKY_FACTOR) {
    const double updates = 0.6 * q.update_values, sets = static_cast<double>(factor_room(q, updates).sets);
    *device = static_cast<std::uint64_t>(lists + sizeof(Front) * supers + 16 * static_cast<double>(q.m.nnz) +
                                         sets * number * updates + sizeof(Job) * static_cast<double>(q.values) / 2048);
  } else {
    const Room room = solve_room(q);
    *device = static_cast<std::uint64_t>(lists + 4 * index + 4 * n + 48 * supers +
                                         number * static_cast<double>(room.sets) *
                                             (static_cast<double>(room.columns) * (2 * n + index) + inverses_of(q)));
  }
  *host = static_cast<std::uint64_t>(4 * n + 4 * index + (sizeof(Front) + 48) * supers + 1e4);
}

}  // namespace sextant_cholesky_levels
