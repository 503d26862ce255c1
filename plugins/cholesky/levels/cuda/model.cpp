// SPDX-License-Identifier: BSD-3-Clause
#include "model.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "sextant/sdk/cholesky.hpp"

namespace sextant_cholesky_levels {
namespace {

using sextant::plugin::value_bytes;
using sextant_cholesky::put_terms;

// Flops by widths of fronts, as many times as they run slower than the peak where a device is full of them, until a
// calibration knows better.
constexpr double slower[SXT_CHOLESKY_CLASSES] = {45, 19, 6, 3, 1.65, 1.2, 1.05};

// The time of an operation over one of f64 on tensor cores.
double slower_than_f64(sxt_value_type type, std::int64_t products) {
  if (type == SXT_F64) return 1;
  return products == 1 ? 0.4 : products == 3 ? 0.7 : 1.5;
}

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

// Seconds a unit on an H200; standard terms follow the machine.
const double level_defaults[] = {6e-6, 1e-6, 0.6e-6, 0.8e-6, 4e-8, 4e-7, NAN, NAN, NAN, NAN, NAN, 1.6e-10};

void fill_factor_model(sxt_candidate &candidate, const sxt_cholesky_query &q, const Widths &widths) {
  const double number = static_cast<double>(value_bytes(q.m.q.value_type)), sets = static_cast<double>(q.n_sets);
  const double complex = operations_of(q.m.q.value_type) / 2, block = static_cast<double>(widths.block);
  double flops[3] = {};  // of fronts of up to 16, 256 and more columns
  for (int c = 0; c < SXT_CHOLESKY_CLASSES; ++c) flops[c < 2 ? 0 : c < 4 ? 1 : 2] += q.classes[c].flops * slower[c];
  // Block columns are read again by each product.
  const double scale = sets * complex * slower_than_f64(q.m.q.value_type, widths.products) * (1 + 16 / block);
  const double rounds = std::ceil(sets / static_cast<double>(factor_room(q, 0.6 * q.update_values).sets));
  put_terms(
      candidate, level_terms,
      {rounds * (5 + q.wide_level_columns / block), rounds * static_cast<double>(q.height),
       rounds * q.narrow_level_columns, rounds * q.wide_level_columns, rounds * q.level_rows, rounds * q.level_children,
       sets * number * 2 * static_cast<double>(q.values), sets * number * 3 * q.update_values, scale * flops[0],
       scale * flops[1], scale * flops[2], sets * 100 * static_cast<double>(q.n_super)});
  candidate.launch[0] = widths.block, candidate.launch[1] = widths.most_small, candidate.launch[2] = widths.products;
  candidate.working_set_bytes = number * static_cast<double>(q.values);
  candidate.model_class = 1;
  candidate.setup_s = 3e-3 + 2e-7 * static_cast<double>(q.n_super) + 8e-9 * static_cast<double>(q.index_size + q.m.nnz);
  std::uint64_t host = 0;
  estimate_bytes(q, &host, &candidate.state_bytes);
}

// A chain of column blocks of 64 and of levels each way; L once each way; a task for each front or part of one.
void fill_solve_model(sxt_candidate &candidate, const sxt_cholesky_query &q) {
  const double number = static_cast<double>(value_bytes(q.m.q.value_type)), sets = static_cast<double>(q.n_sets);
  const Room room = solve_room(q);
  const double rhs = static_cast<double>(std::max<std::int64_t>(1, q.n_rhs)),
               columns = static_cast<double>(room.columns), groups = std::ceil(rhs / columns);
  const double rounds = groups * std::ceil(sets / static_cast<double>(room.sets));
  const double operations = sets * operations_of(q.m.q.value_type) * 2 * rhs;
  double values[3] = {};
  for (int c = 0; c < SXT_CHOLESKY_CLASSES; ++c) values[c < 2 ? 0 : c < 4 ? 1 : 2] += q.classes[c].values;
  // In units of what a level and a column of a factorisation take.
  constexpr double level = 3.6, column = 2 * 1.5 / solve_columns / 0.7;
  put_terms(candidate, level_terms,
            {rounds * 5, rounds * level * static_cast<double>(q.height), rounds * column * q.narrow_level_columns,
             rounds * column * q.wide_level_columns, rounds * q.level_rows, rounds * q.level_children,
             sets * number * 2 * groups * static_cast<double>(q.values),
             sets * number * 6 * rhs * static_cast<double>(q.index_size), operations * values[0],
             operations * values[1], operations * values[2], rounds * 500 * static_cast<double>(q.n_super)});
  candidate.launch[0] = 1;
  candidate.working_set_bytes = number * static_cast<double>(q.values);
  // One right-hand side, one tile of them and several are other kernels or other launches.
  const std::uint32_t width = rhs == 1 ? 0 : rhs <= tile_columns ? 1 : 2;
  candidate.model_class = 32 + width;
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
