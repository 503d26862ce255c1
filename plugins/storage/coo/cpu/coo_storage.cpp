// SPDX-License-Identifier: BSD-3-Clause
// storage.coo.cpu: coordinates sorted by row. The row of every entry is built; columns and values are the matrix's own,
// copied only when they are scaled, or for a triangle.
#include <algorithm>
#include <cstdint>
#include <memory>

#include "plugins/storage/shared/storage.hpp"
#include "sextant/sdk/cpu/csr.hpp"
#include "sextant/sdk/cpu/storage.hpp"

using namespace sextant::plugin;

namespace {

struct State {
  sxt_coo view{};
  Memory row, col, values;  // arrays of this state: always the rows; columns of a triangle; values once written
  Kept kept;                // entries of the source
  std::int64_t source_nnz = 0;
};

const State &of(const void *state) { return *static_cast<const State *>(state); }

std::uint64_t value_array_bytes(const sxt_coo &a) { return a.s.nnz * value_bytes(a.s.value_type); }

// Calls f(entry, row, column) for some entries of a, in order.
template <class F>
sxt_status for_each_entry(const sxt_coo &a, Range entries, F &&f) {
  return with_index_type(a.s.index_type, [&](auto tag) {
    using Index = typename decltype(tag)::type;
    const auto *row = static_cast<const Index *>(a.row);
    const auto *col = static_cast<const Index *>(a.col);
    for (std::int64_t k = entries.begin; k < entries.end; ++k)
      f(k, static_cast<std::int64_t>(row[k]), static_cast<std::int64_t>(col[k]));
    return SXT_OK;
  });
}

sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &matrix = as<sxt_matrix_query>(query);
  const double index = matrix.cols >= (std::int64_t{1} << 31) || matrix.rows >= (std::int64_t{1} << 31) ? 8 : 4;
  const double row_bytes = index * static_cast<double>(matrix.nnz);
  CandidateList list(out, capacity, count);
  sxt_candidate &candidate = list.add();
  candidate.setup_s = 1e-6 + (row_bytes + 4.0 * static_cast<double>(matrix.rows)) / machine->stream_rate_unit;
  candidate.state_bytes = sizeof(State) + static_cast<std::uint64_t>(row_bytes);
  candidate.working_set_bytes = static_cast<double>(matrix.nnz) * (value_bytes(matrix.matrix_type) + 2 * index);
  return SXT_OK;
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *, const sxt_filled *, const sxt_exec *exec,
                   void **out) {
  return guard(exec, [&] {
    const auto &source = as<sxt_csr>(problem->a);
    auto state = std::make_unique<State>();
    state->view.s = source.s;
    state->view.s.h = head<sxt_coo>(SXT_KIND_STORAGE_COO);
    state->source_nnz = source.s.nnz;
    state->row = Memory(exec, SXT_SPACE_HOST, source.s.nnz * index_bytes(source.s.index_type));
    state->view.row = state->row.data();
    state->view.col = source.col;
    state->view.values = source.values;
    const sxt_status status = with_index_type(source.s.index_type, [&](auto tag) {
      auto *row = state->row.as<typename decltype(tag)::type>();
      return for_each_entry(source, Range{0, source.s.rows}, [row](auto i, auto k, auto) { row[k] = i; });
    });
    return status == SXT_OK ? give(state.release(), out) : status;
  });
}

sxt_status refresh(void *opaque, const sxt_problem *problem, const sxt_exec *exec) {
  auto &state = *static_cast<State *>(opaque);
  const auto &source = as<sxt_csr>(problem->a);
  if (const sxt_status status = check_new_values(source, state.source_nnz, exec); status != SXT_OK) return status;
  if (!state.values.data() && state.kept.all()) return state.view.values = source.values, SXT_OK;
  return with_value_type(source.s.value_type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T *from = static_cast<const T *>(source.values);
    T *to = state.values.as<T>();
    return for_each_entry(source, Range{0, source.s.rows}, [&](std::int64_t i, std::int64_t k, std::int64_t j) {
      if (state.kept(i, j)) *to++ = from[k];
    });
  });
}

const sxt_storage *view(const void *state) { return &of(state).view.s; }

std::uint64_t bytes(const void *opaque) {
  const State &state = of(opaque);
  const std::uint64_t index_array = state.view.s.nnz * index_bytes(state.view.s.index_type);
  return index_array * (state.col.data() ? 2 : 1) + (state.values.data() ? value_array_bytes(state.view) : 0);
}

sxt_status scale(void *opaque, const void *s, const sxt_exec *exec) {
  return guard(exec, [&] {
    auto &state = *static_cast<State *>(opaque);
    own_values(state.view, state.values, value_array_bytes(state.view), exec);
    return scale_entries(state.view.s.value_type, state.values.data(), s, exec,
                         [&](int part, int team, auto &&scale_one) {
                           for_each_entry(state.view, part_of(state.view.s.nnz, team, part), scale_one);
                         });
  });
}

sxt_status diagonal(const void *state, void *out, const sxt_exec *) {
  const sxt_coo &a = of(state).view;
  return diagonal_entries(a.s, a.values, out, [&](auto &&look) { return for_each_entry(a, {0, a.s.nnz}, look); });
}

// Copies the kept entries of the whole into part's own arrays.
sxt_status copy_kept(State &part, const State &whole, const sxt_exec *exec) {
  const sxt_coo &source = whole.view;
  const Range all = {0, source.s.nnz};
  std::int64_t nnz = 0;
  const sxt_status status =
      for_each_entry(source, all, [&](std::int64_t, std::int64_t i, std::int64_t j) { nnz += part.kept(i, j); });
  if (status != SXT_OK) return status;
  part.view.s.nnz = nnz;
  part.row = Memory(exec, SXT_SPACE_HOST, nnz * index_bytes(source.s.index_type));
  part.col = Memory(exec, SXT_SPACE_HOST, nnz * index_bytes(source.s.index_type));
  part.values = Memory(exec, SXT_SPACE_HOST, nnz * value_bytes(source.s.value_type));
  return with_value_type(source.s.value_type, [&](auto value_tag) {
    return with_index_type(source.s.index_type, [&](auto index_tag) {
      using T = typename decltype(value_tag)::type;
      using Index = typename decltype(index_tag)::type;
      const T *from = static_cast<const T *>(source.values);
      Index *row = part.row.as<Index>(), *col = part.col.as<Index>();
      T *values = part.values.as<T>();
      return for_each_entry(source, all, [&](std::int64_t k, std::int64_t i, std::int64_t j) {
        if (part.kept(i, j)) *row++ = i, *col++ = j, *values++ = from[k];
      });
    });
  });
}

sxt_status triangle(const void *opaque, sxt_triangle which, std::int32_t with_diagonal, const sxt_exec *exec,
                    void **out) {
  return guard(exec, [&] {
    const State &whole = of(opaque);
    auto part = std::make_unique<State>();
    part->view = whole.view;
    part->kept = whole.kept.triangle(which, with_diagonal);
    part->source_nnz = whole.source_nnz;
    const sxt_status status = copy_kept(*part, whole, exec);
    if (status != SXT_OK) return status;
    part->view.row = part->row.data();
    part->view.col = part->col.data();
    part->view.values = part->values.data();
    part->view.s.symmetry = SXT_GENERAL;
    return give(part.release(), out);
  });
}

const sxt_storage_ops ops = {sizeof(sxt_storage_ops), view, bytes, scale, diagonal, triangle};

const sxt_kernel kernel = new_storage<State>(SXT_KIND_STORAGE_COO, "storage.coo.cpu", "cpu",
                                             "coordinates sorted by row; columns and values borrowed from the matrix",
                                             {&ops, nullptr, nullptr, candidates, prepare, refresh});

// Kernels that read a conversion test it, so the kind has no cases.
const sxt_kind kind = new_kind(SXT_KIND_STORAGE_COO, "coordinates sorted by row, then column");

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *host, const sxt_plugin **out) {
  take_team(host);
  return offer<&kernel, &kind>("storage-coo", out);
}
