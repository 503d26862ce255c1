// SPDX-License-Identifier: BSD-3-Clause
// The factorisation's graph, and fronts that are cut in tiles. Tile (i, j) is first assembled, then takes updates of a
// few block columns at a time as these become ready, and last, in the front's own columns, is factored or divided. The
// sums of a tile are always taken in the same order.
#pragma once

#include "factor.hpp"

namespace sextant_cholesky_tasks {

template <class T>
void Factorisation<T>::start(Queue &queue) {
  units_left_ = static_cast<std::int64_t>(plan_.units.size());
  std::fill(space_.stage, space_.stage + plan_.tiles, std::uint16_t{0});
  std::fill(space_.columns_done, space_.columns_done + plan_.row_tiles, Index{0});
  for (std::size_t u = 0; u < plan_.units.size(); ++u) {
    space_.children_left[u] = plan_.units[u].children;
    if (plan_.units[u].children == 0) activate(static_cast<std::int64_t>(u), queue);
  }
}

template <class T>
void Factorisation<T>::activate(std::int64_t unit, Queue &queue) {
  if (plan_.units[unit].kind != Unit::Kind::tiled) return queue.push(key_of(unit));
  const Tiling &t = plan_.tilings[plan_.tiling_of[unit]];
  space_.tiles_left[unit] = static_cast<Index>(t.count * (t.count + 1) / 2);
  for (std::int64_t j = 0; j < t.count; ++j)
    for (std::int64_t i = j; i < t.count; ++i) push_if_ready(unit, t, i, j, queue);
}

template <class T>
void Factorisation<T>::run(Key key, int rank) {
  const Unit &unit = plan_.units[unit_in(key)];
  if (unit.kind != Unit::Kind::tiled) return run_range(unit, rank);
  const Tiling &t = plan_.tilings[plan_.tiling_of[unit_in(key)]];
  const std::int64_t i = row_in(key), j = column_in(key);
  if (is_beyond_failure(plan_.s.super_ptr[unit.first] + std::min(t.begin(j), t.width - 1))) return;
  run_tile(unit.first, t, i, j, static_cast<std::uint16_t>(space_.stage[t.tile(i, j)] & ~queued));
}

template <class T>
bool Factorisation<T>::finish(Key key, Queue &queue) {
  const std::int64_t u = unit_in(key);
  if (plan_.units[u].kind == Unit::Kind::tiled) {
    const Tiling &t = plan_.tilings[plan_.tiling_of[u]];
    const std::int64_t i = row_in(key), j = column_in(key);
    std::uint16_t &stage = space_.stage[t.tile(i, j)];
    stage = static_cast<std::uint16_t>((stage & ~queued) + 1);
    if (stage < stages(t, j)) return push_if_ready(u, t, i, j, queue), true;
    if (j < t.panel) {  // what waits for this row's columns: tiles of the row, and those of the column of its number
      space_.columns_done[t.rows_at + i] = static_cast<Index>(j + 1);
      for (std::int64_t c = j; c <= i; ++c) push_if_ready(u, t, i, c, queue);
      for (std::int64_t r = i + 1; r < t.count; ++r) push_if_ready(u, t, r, i, queue);
    }
    if (--space_.tiles_left[u] > 0) return true;
  }
  for (std::int64_t k = plan_.parents_at[u]; k < plan_.parents_at[u + 1]; ++k)
    if (--space_.children_left[plan_.parents[k]] == 0) activate(plan_.parents[k], queue);
  return --units_left_ > 0;
}

// Assembly, updates by whole chunks, and the rest with what closes the tile.
template <class T>
std::uint16_t Factorisation<T>::stages(const Tiling &t, std::int64_t j) const {
  const std::int64_t before = std::min(j, t.panel);
  return static_cast<std::uint16_t>(1 + (before > 0 ? (before - 1) / t.chunk : 0) + 1);
}

template <class T>
bool Factorisation<T>::is_ready(const Tiling &t, std::int64_t i, std::int64_t j, std::uint16_t stage) const {
  if (stage == 0) return true;
  const std::int64_t before = std::min(j, t.panel);
  const bool last = stage + 1 == stages(t, j);
  const std::int64_t needed = last ? before : stage * t.chunk;
  const Index *done = space_.columns_done + t.rows_at;
  if (done[i] < needed || done[j] < needed) return false;
  return !last || j >= t.panel || i == j || done[j] > j;  // the diagonal tile comes before those below
}

template <class T>
void Factorisation<T>::push_if_ready(std::int64_t unit, const Tiling &t, std::int64_t i, std::int64_t j, Queue &queue) {
  std::uint16_t &stage = space_.stage[t.tile(i, j)];
  if ((stage & queued) || stage >= stages(t, j) || !is_ready(t, i, j, stage)) return;
  stage |= queued;
  queue.push(key_of(unit, j, i));
}

template <class T>
Block<T> Factorisation<T>::tile(std::int64_t p, const Tiling &t, std::int64_t i, std::int64_t j) const {
  if (j < t.panel) return front(p).at(t.begin(i), t.begin(j));
  const std::int64_t ld = t.rows - t.width;
  return Block<T>{kept(p), ld}.at(t.begin(i) - t.width, t.begin(j) - t.width);
}

template <class T>
void Factorisation<T>::run_tile(std::int64_t p, const Tiling &t, std::int64_t i, std::int64_t j, std::uint16_t stage) {
  if (stage == 0) return assemble_tile(p, t, i, j);
  Dense<T> dense(call_.parts, call_.type, !call_.rule.definite, exec_);
  const std::int64_t first = (stage - 1) * t.chunk;
  if (stage + 1 < stages(t, j)) {
    update_tile(p, t, i, j, first, first + t.chunk, dense);
  } else {
    update_tile(p, t, i, j, first, std::min(j, t.panel), dense);
    if (j < t.panel) close_tile(p, t, i, j, dense);
  }
  keep(dense.status());
}

template <class T>
void Factorisation<T>::assemble_tile(std::int64_t p, const Tiling &t, std::int64_t i, std::int64_t j) {
  const Block<T> to = tile(p, t, i, j);
  const std::int64_t row = t.begin(i), column = t.begin(j), row_end = t.end(i), column_end = t.end(j);
  for (std::int64_t c = 0; c < column_end - column; ++c)
    std::memset(static_cast<void *>(to.data + c * to.ld), 0, static_cast<std::size_t>(row_end - row) * sizeof(T));
  if (j < t.panel)
    plan_.for_entries(p, column, column_end, [&](std::int64_t place, std::int64_t k, bool conjugated) {
      const std::int64_t r = place % t.rows, c = place / t.rows;
      if (r >= row && r < row_end) to.data[r - row + (c - column) * to.ld] = value_at(k, conjugated);
    });
  for (Index child = plan_.first_child[p]; child >= 0; child = plan_.next_child[child]) {
    const std::int64_t size = plan_.below(child);
    const Index *relative = plan_.relative(child), *run_end = plan_.run_end(child);
    const auto at = [&](std::int64_t n) {
      return std::lower_bound(relative, relative + size, static_cast<Index>(n)) - relative;
    };
    const std::int64_t from = at(row), end = at(row_end), last = at(column_end);
    for (std::int64_t c = at(column); c < last; ++c)
      add_runs(kept(child) + c * size, relative, run_end, std::max(from, c), end,
               to.data + (relative[c] - column) * to.ld - row);
  }
}

// Takes off what block columns first .. last-1 contribute.
template <class T>
void Factorisation<T>::update_tile(std::int64_t p, const Tiling &t, std::int64_t i, std::int64_t j, std::int64_t first,
                                   std::int64_t last, Dense<T> &dense) {
  if (first >= last) return;
  const std::int64_t column = t.begin(first), depth = t.end(last - 1) - column;
  const Block<T> own = front(p), to = tile(p, t, i, j), left = own.at(t.begin(i), column),
                 top = own.at(t.begin(j), column);
  const Diagonal<T> d = weights(own.at(column, column));
  if (i == j)
    dense.syrk(left, to, t.extent(i), depth, d);
  else
    dense.gemm(left, top, to, t.extent(i), t.extent(j), depth, d);
}

template <class T>
void Factorisation<T>::close_tile(std::int64_t p, const Tiling &t, std::int64_t i, std::int64_t j, Dense<T> &dense) {
  const std::int64_t column = plan_.s.super_ptr[p] + t.begin(j);
  const Block<T> diagonal = tile(p, t, j, j);
  if (i != j) return dense.trsm(diagonal, tile(p, t, i, j), t.extent(i), t.extent(j), weights(diagonal));
  if (const std::int32_t info =
          dense.factor(diagonal, t.extent(j), call_.rule, call_.marks ? call_.marks + column : nullptr))
    fail(column + info - 1);
}

}  // namespace sextant_cholesky_tasks
