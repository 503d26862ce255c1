// SPDX-License-Identifier: BSD-3-Clause
// From rows to slices: order within windows, layout, then columns and values. Every step but the prefix sum runs on the
// threads that are lent; slices are filled by the parts that the product will use, so that each thread touches its own
// memory first.
#include <algorithm>
#include <atomic>
#include <cstdint>

#include "plugins/formats/slice_fill.hpp"
#include "sell_storage.hpp"

namespace sextant::storage_sell {

using namespace plugin;

namespace {

constexpr std::int32_t padding = -1;

// Kept entries of every row of a window, and the entries that slices of eight rows in this order would store.
struct Window {
  std::int64_t first, rows;
  std::int64_t length[sigma];

  std::int64_t stored(const std::int64_t *lengths) const {
    std::int64_t total = 0;
    for (std::int64_t l = 0; l < rows; l += slice)
      total += slice * *std::max_element(lengths + l, lengths + std::min<std::int64_t>(rows, l + slice));
    return total;
  }
};

template <class Offset>
void measure(const State &state, const Offset *row_ptr, const std::int32_t *col, Window &window) {
  for (std::int64_t l = 0; l < window.rows; ++l) {
    const std::int64_t i = window.first + l;
    window.length[l] = row_ptr[i + 1] - row_ptr[i];
    if (state.kept.all()) continue;
    window.length[l] = 0;
    for (Offset k = row_ptr[i]; k < row_ptr[i + 1]; ++k) window.length[l] += state.kept(i, col[k]);
  }
}

// Sorts a window by length, longest first, equal ones in their old order; where that saves less than 3 % the old order
// stays, whose rows lie together in y. Writes the slices' sizes to slice_ptr[1 + s]. True: the order changed.
bool order(Window &window, std::int32_t *perm, std::int64_t *slice_ptr) {
  std::uint64_t keys[sigma];
  std::int64_t sorted[sigma];
  for (std::int64_t l = 0; l < window.rows; ++l)
    keys[l] = static_cast<std::uint64_t>(0x7fffffffffff - window.length[l]) << 16 | static_cast<std::uint64_t>(l);
  std::sort(keys, keys + window.rows);
  for (std::int64_t l = 0; l < window.rows; ++l) sorted[l] = window.length[keys[l] & 0xffff];
  const bool worth = window.stored(window.length) * 100 > window.stored(sorted) * 103;
  for (std::int64_t l = 0; l < window.rows; ++l)
    perm[window.first + l] = static_cast<std::int32_t>(window.first + (worth ? keys[l] & 0xffff : l));
  const std::int64_t *lengths = worth ? sorted : window.length;
  for (std::int64_t l = 0; l < window.rows; l += slice)
    slice_ptr[1 + (window.first + l) / slice] =
        slice * *std::max_element(lengths + l, lengths + std::min<std::int64_t>(window.rows, l + slice));
  return worth;
}

sxt_status lay_out(State &state, const sxt_csr &a, const sxt_exec *exec) {
  const std::int64_t rows = a.s.rows, windows = (rows + sigma - 1) / sigma;
  state.view.n_slices = (rows + slice - 1) / slice;
  state.slice_ptr = Memory(exec, SXT_SPACE_HOST, (state.view.n_slices + 1) * sizeof(std::int64_t));
  state.perm = Memory(exec, SXT_SPACE_HOST, rows * sizeof(std::int32_t));
  auto *slice_ptr = state.slice_ptr.as<std::int64_t>();
  const int team = std::max(1, exec->threads);
  std::atomic<bool> changed{false};
  const auto *col = static_cast<const std::int32_t *>(a.col);
  with_index_type(a.s.offset_type, [&](auto tag) {
    const auto *row_ptr = static_cast<const typename decltype(tag)::type *>(a.row_ptr);
    for_each_part(team, team, [&](int part) {
      const Range mine = part_of(windows, team, part);
      Window window;
      bool any = false;
      for (std::int64_t w = mine.begin; w < mine.end; ++w) {
        window.first = w * sigma;
        window.rows = std::min<std::int64_t>(sigma, rows - window.first);
        measure(state, row_ptr, col, window);
        any |= order(window, state.perm.as<std::int32_t>(), slice_ptr);
      }
      if (any) changed.store(true, std::memory_order_relaxed);
    });
    return SXT_OK;
  });
  slice_ptr[0] = 0;
  for (std::int64_t s = 0; s < state.view.n_slices; ++s) slice_ptr[s + 1] += slice_ptr[s];
  if (!changed) state.perm = Memory();
  return SXT_OK;
}

// Fills the slices of a; columns too when col is not NULL. The values of a row lie `slice` apart.
template <class T, class Offset>
void fill(const State &state, const Offset *row_ptr, const std::int32_t *source_col, const T *source, Range slices,
          std::int32_t *col, T *values) {
  const auto *slice_ptr = state.slice_ptr.as<std::int64_t>();
  for (std::int64_t s = slices.begin; s < slices.end; ++s)
    for (std::int64_t l = 0; l < slice; ++l) {
      std::int64_t at = slice_ptr[s] + l;
      const std::int64_t slot = s * slice + l;
      if (slot < state.view.s.rows) {
        const std::int64_t i = state.row_of(slot);
        for (Offset k = row_ptr[i]; k < row_ptr[i + 1]; ++k) {
          if (!state.kept(i, source_col[k])) continue;
          values[at] = source[k];
          if (col) col[at] = source_col[k];
          at += slice;
        }
      }
      for (; at < slice_ptr[s + 1]; at += slice) {
        values[at] = T(0);
        if (col) col[at] = padding;
      }
    }
}

sxt_status fill_all(State &state, const sxt_csr &a, std::int32_t *col, const sxt_exec *exec) {
  const int team = std::max(1, exec->threads);
  return with_value_type(a.s.value_type, [&](auto value_tag) {
    return with_index_type(a.s.offset_type, [&](auto offset_tag) {
      using T = typename decltype(value_tag)::type;
      using Offset = typename decltype(offset_tag)::type;
      for_each_part(team, team, [&](int part) {
        const Range slices =
            equal_part(state.slice_ptr.as<std::int64_t>(), state.view.n_slices, slice_weight, team, part);
        fill(state, static_cast<const Offset *>(a.row_ptr), static_cast<const std::int32_t *>(a.col),
             static_cast<const T *>(a.values), slices, col, state.values.as<T>());
      });
      return SXT_OK;
    });
  });
}

}  // namespace

sxt_status build(State &state, const sxt_csr &a, const sxt_exec *exec) {
  if (a.s.index_type != SXT_I32)
    return error(exec, SXT_E_NOT_SUPPORTED, "storage.sell.cpu holds 32-bit columns, this matrix has 64-bit ones");
  const sxt_status status = lay_out(state, a, exec);
  if (status != SXT_OK) return status;
  const std::int64_t stored = state.stored();
  if (slices_fill_too_much(static_cast<double>(stored), static_cast<double>(a.s.nnz)))
    return error(exec, SXT_E_NOT_SUPPORTED,
                 "slices of %d rows would store %lld entries for %lld nonzeros, more than %g times as many", slice,
                 (long long)stored, (long long)a.s.nnz, slice_fill_limit);
  state.col = Memory(exec, SXT_SPACE_HOST, stored * sizeof(std::int32_t));
  state.values = Memory(exec, SXT_SPACE_HOST, stored * value_bytes(a.s.value_type));
  state.view.slice_ptr = state.slice_ptr.data();
  state.view.perm = state.perm.data();
  state.view.col = state.col.data();
  state.view.values = state.values.data();
  return fill_all(state, a, state.col.as<std::int32_t>(), exec);
}

sxt_status fill_values(State &state, const sxt_csr &a, const sxt_exec *exec) {
  return fill_all(state, a, nullptr, exec);
}

}  // namespace sextant::storage_sell
