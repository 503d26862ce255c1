// SPDX-License-Identifier: BSD-3-Clause
// storage.hyb.cpu: the first H entries of every row as ELL, the rest as coordinates sorted by row. H is the largest
// width that at least a third of the rows fill. It owns all arrays.
#include <algorithm>
#include <cstdint>
#include <memory>

#include "plugins/formats/ell.hpp"
#include "plugins/storage/shared/storage.hpp"
#include "sextant/sdk/cpu/storage.hpp"

using namespace sextant::plugin;

namespace {

struct State {
  sxt_hyb view{};
  Memory col, values;                 // of the regular part
  Memory row, rest_col, rest_values;  // of the coordinates
};

const State &of(const void *state) { return *static_cast<const State *>(state); }

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  const auto &q = as<sxt_matrix_query>(query);
  return check_ell_indices(q.rows, q.cols, reason);
}

sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_matrix_query>(query);
  // Row lengths are not known here; a third more than the entries is usual.
  const double stored = 1.3 * static_cast<double>(q.nnz);
  const double bytes = stored * static_cast<double>(value_bytes(q.matrix_type) + 4);
  CandidateList list(out, capacity, count);
  sxt_candidate &candidate = list.add();
  candidate.setup_s = 5e-6 + 3 * bytes / machine->stream_rate + 3e-9 * stored;  // the rest is copied by one thread
  candidate.state_bytes = sizeof(State) + static_cast<std::uint64_t>(bytes);
  candidate.working_set_bytes = bytes;
  return SXT_OK;
}

// The largest H such that at least a third of the rows have H entries or more: rows are counted by length.
template <class Offset>
std::int64_t width_of(const Offset *row_ptr, std::int64_t rows, const sxt_exec *exec) {
  std::int64_t most = 0;
  for (std::int64_t i = 0; i < rows; ++i) most = std::max<std::int64_t>(most, row_ptr[i + 1] - row_ptr[i]);
  Memory counts(exec, SXT_SPACE_HOST, (most + 1) * sizeof(std::int64_t));
  auto *count = counts.as<std::int64_t>();
  std::fill_n(count, most + 1, std::int64_t{0});
  for (std::int64_t i = 0; i < rows; ++i) ++count[row_ptr[i + 1] - row_ptr[i]];
  std::int64_t at_least = 0, width = most;
  for (; width > 0; --width)
    if (3 * (at_least += count[width]) >= rows) break;
  return width;
}

// Entries beyond the first `width` of their row, in order: f(position among them, row, entry of a).
template <class Offset, class F>
void for_each_rest(const Offset *row_ptr, std::int64_t rows, std::int64_t width, F &&f) {
  std::int64_t at = 0;
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t k = row_ptr[i] + width; k < row_ptr[i + 1]; ++k) f(at++, i, k);
}

sxt_status fill_rest(State &state, const sxt_csr &a, bool columns) {
  return with_value_type(a.s.value_type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T *source = static_cast<const T *>(a.values);
    T *values = state.rest_values.as<T>();
    auto *row = state.row.as<std::int32_t>(), *col = state.rest_col.as<std::int32_t>();
    return with_csr_indices(a, [&](const auto *row_ptr, const auto *source_col) {
      for_each_rest(row_ptr, a.s.rows, state.view.ell.width, [&](std::int64_t at, std::int64_t i, std::int64_t k) {
        values[at] = source[k];
        if (!columns) return;
        row[at] = static_cast<std::int32_t>(i);
        col[at] = static_cast<std::int32_t>(source_col[k]);
      });
      return SXT_OK;
    });
  });
}

void allocate(State &state, const sxt_csr &a, std::int64_t width, std::int64_t rest, const sxt_exec *exec) {
  const std::uint64_t value = value_bytes(a.s.value_type);
  sxt_ell &ell = state.view.ell;
  ell.s = a.s;
  ell.s.h = head<sxt_hyb>(SXT_KIND_STORAGE_HYB);
  ell.width = width;
  ell.ld = ell_stride(a.s.rows);
  state.col = Memory(exec, SXT_SPACE_HOST, width * ell.ld * sizeof(std::int32_t));
  state.values = Memory(exec, SXT_SPACE_HOST, width * ell.ld * value);
  ell.col = state.col.data();
  ell.values = state.values.data();
  sxt_coo &coo = state.view.coo;
  coo.s = a.s;
  coo.s.h = head<sxt_coo>(SXT_KIND_STORAGE_COO);
  coo.s.nnz = rest;
  state.row = Memory(exec, SXT_SPACE_HOST, rest * sizeof(std::int32_t));
  state.rest_col = Memory(exec, SXT_SPACE_HOST, rest * sizeof(std::int32_t));
  state.rest_values = Memory(exec, SXT_SPACE_HOST, rest * value);
  coo.row = state.row.data();
  coo.col = state.rest_col.data();
  coo.values = state.rest_values.data();
}

sxt_status fill_all(State &state, const sxt_csr &a, bool columns, const sxt_exec *exec) {
  const sxt_status status =
      fill_ell(a, state.view.ell, columns ? state.col.as<std::int32_t>() : nullptr, state.values.data(), exec);
  return status == SXT_OK ? fill_rest(state, a, columns) : status;
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *, const sxt_filled *, const sxt_exec *exec,
                   void **out) {
  return guard(exec, [&] {
    const auto &a = as<sxt_csr>(problem->a);
    if (a.s.index_type != SXT_I32)
      return error(exec, SXT_E_NOT_SUPPORTED, "storage.hyb.cpu holds 32-bit columns, this matrix has 64-bit ones");
    auto state = std::make_unique<State>();
    with_csr_indices(a, [&](const auto *row_ptr, const auto *) {
      const std::int64_t width = width_of(row_ptr, a.s.rows, exec);
      std::int64_t rest = 0;
      for (std::int64_t i = 0; i < a.s.rows; ++i)
        rest += std::max<std::int64_t>(0, row_ptr[i + 1] - row_ptr[i] - width);
      return allocate(*state, a, width, rest, exec), SXT_OK;
    });
    const sxt_status status = fill_all(*state, a, true, exec);
    return status == SXT_OK ? give(state.release(), out) : status;
  });
}

sxt_status refresh(void *opaque, const sxt_problem *problem, const sxt_exec *exec) {
  auto &state = *static_cast<State *>(opaque);
  const auto &a = as<sxt_csr>(problem->a);
  if (const sxt_status status = check_new_values(a, state.view.ell.s.nnz, exec); status != SXT_OK) return status;
  return fill_all(state, a, false, exec);
}

const sxt_storage *view(const void *state) { return &of(state).view.ell.s; }

std::uint64_t bytes(const void *state) {
  const sxt_hyb &a = of(state).view;
  const std::uint64_t value = value_bytes(a.ell.s.value_type);
  return a.ell.width * a.ell.ld * (sizeof(std::int32_t) + value) + a.coo.s.nnz * (2 * sizeof(std::int32_t) + value);
}

// Calls f(position, row, column) for some of the coordinates.
template <class F>
void for_each_coordinate(const sxt_coo &coo, Range entries, F &&f) {
  const auto *row = static_cast<const std::int32_t *>(coo.row), *col = static_cast<const std::int32_t *>(coo.col);
  for (std::int64_t k = entries.begin; k < entries.end; ++k)
    f(k, static_cast<std::int64_t>(row[k]), static_cast<std::int64_t>(col[k]));
}

sxt_status scale(void *opaque, const void *s, const sxt_exec *exec) {
  auto &state = *static_cast<State *>(opaque);
  const sxt_hyb &a = state.view;
  const sxt_status status =
      scale_entries(a.ell.s.value_type, state.values.data(), s, exec, [&](int part, int team, auto &&scale_one) {
        for_each_ell_entry(a.ell, ell_part(a.ell.s.rows, team, part), scale_one);
      });
  if (status != SXT_OK) return status;
  return scale_entries(a.ell.s.value_type, state.rest_values.data(), s, exec,
                       [&](int part, int team, auto &&scale_one) {
                         for_each_coordinate(a.coo, part_of(a.coo.s.nnz, team, part), scale_one);
                       });
}

sxt_status diagonal(const void *state, void *out, const sxt_exec *) {
  const sxt_hyb &a = of(state).view;
  const sxt_status status = diagonal_entries(a.ell.s, a.ell.values, out, [&](auto &&look) {
    return for_each_ell_entry(a.ell, {0, a.ell.s.rows}, look), SXT_OK;
  });
  if (status != SXT_OK) return status;
  return with_value_type(a.ell.s.value_type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for_each_coordinate(a.coo, {0, a.coo.s.nnz}, [&](std::int64_t k, std::int64_t i, std::int64_t j) {
      if (i == j) static_cast<T *>(out)[i] = static_cast<const T *>(a.coo.values)[k];
    });
    return SXT_OK;
  });
}

const sxt_storage_ops ops = {sizeof(sxt_storage_ops), view, bytes, scale, diagonal, nullptr};

const sxt_kernel kernel = new_storage<State>(SXT_KIND_STORAGE_HYB, "storage.hyb.cpu", "cpu",
                                             "ELL as wide as a third of the rows, the rest as coordinates",
                                             {&ops, nullptr, applicable, candidates, prepare, refresh});

// Kernels that read a conversion test it, so the kind has no cases.
const sxt_kind kind = new_kind(SXT_KIND_STORAGE_HYB, "a regular part, and the rest as coordinates");

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *host, const sxt_plugin **out) {
  take_team(host);
  return offer<&kernel, &kind>("storage-hyb", out);
}
