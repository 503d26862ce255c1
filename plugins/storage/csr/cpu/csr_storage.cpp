// SPDX-License-Identifier: BSD-3-Clause
// storage.csr.cpu: the matrix's own host CSR, published unchanged. Values are copied only when they are scaled, row
// pointers and columns only for a triangle.
#include <algorithm>
#include <cstdint>
#include <memory>

#include "plugins/storage/shared/storage.hpp"
#include "sextant/sdk/cpu/csr.hpp"
#include "sextant/sdk/cpu/storage.hpp"

using namespace sextant::plugin;

namespace {

struct State {
  sxt_csr view{};
  Memory row_ptr, col, values;  // arrays of this state; empty where it borrows
  Kept kept;                    // entries of the source
  std::int64_t source_nnz = 0;
};

const State &of(const void *state) { return *static_cast<const State *>(state); }

std::uint64_t value_array_bytes(const sxt_csr &a) { return a.s.nnz * value_bytes(a.s.value_type); }

Range all_rows(const sxt_csr &a) { return {0, a.s.rows}; }

sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &matrix = as<sxt_matrix_query>(query);
  CandidateList list(out, capacity, count);
  sxt_candidate &candidate = list.add();
  candidate.setup_s = 1e-6;  // two small allocations; the arrays are the matrix's own
  candidate.state_bytes = sizeof(State);
  candidate.working_set_bytes = static_cast<double>(matrix.nnz) * (value_bytes(matrix.matrix_type) + 4);
  return SXT_OK;
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *, const sxt_filled *, const sxt_exec *exec,
                   void **out) {
  return guard(exec, [&] {
    auto *state = new State;
    state->view = as<sxt_csr>(problem->a);
    state->view.s.h = head<sxt_csr>(SXT_KIND_STORAGE_CSR);
    state->source_nnz = state->view.s.nnz;
    return give(state, out);
  });
}

// Values of a triangle are picked from the whole matrix in the order of prepare.
sxt_status pick_values(State &state, const sxt_csr &source) {
  return with_value_type(source.s.value_type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T *from = static_cast<const T *>(source.values);
    T *to = state.values.as<T>();
    return for_each_entry(source, all_rows(source), [&](std::int64_t i, std::int64_t k, std::int64_t j) {
      if (state.kept(i, j)) *to++ = from[k];
    });
  });
}

sxt_status refresh(void *opaque, const sxt_problem *problem, const sxt_exec *exec) {
  auto &state = *static_cast<State *>(opaque);
  const auto &source = as<sxt_csr>(problem->a);
  if (const sxt_status status = check_new_values(source, state.source_nnz, exec); status != SXT_OK) return status;
  if (state.row_ptr.data()) return pick_values(state, source);
  if (!state.values.data()) return state.view.values = source.values, SXT_OK;
  std::copy_n(static_cast<const char *>(source.values), value_array_bytes(source), state.values.as<char>());
  return SXT_OK;
}

const sxt_storage *view(const void *state) { return &of(state).view.s; }

std::uint64_t bytes(const void *opaque) {
  const State &state = of(opaque);
  const sxt_storage &s = state.view.s;
  std::uint64_t total = state.values.data() ? value_array_bytes(state.view) : 0;
  if (state.row_ptr.data()) total += (s.rows + 1) * index_bytes(s.offset_type) + s.nnz * index_bytes(s.index_type);
  return total;
}

sxt_status scale(void *opaque, const void *s, const sxt_exec *exec) {
  return guard(exec, [&] {
    auto &state = *static_cast<State *>(opaque);
    own_values(state.view, state.values, value_array_bytes(state.view), exec);
    return scale_entries(state.view.s.value_type, state.values.data(), s, exec,
                         [&](int part, int team, auto &&scale_one) {
                           for_each_entry(state.view, part_of(state.view.s.rows, team, part),
                                          [&](std::int64_t i, std::int64_t k, std::int64_t j) { scale_one(k, i, j); });
                         });
  });
}

sxt_status diagonal(const void *state, void *out, const sxt_exec *) {
  const sxt_csr &a = of(state).view;
  return diagonal_entries(a.s, a.values, out, [&](auto &&look) {
    return for_each_entry(a, all_rows(a), [&](std::int64_t i, std::int64_t k, std::int64_t j) { look(k, i, j); });
  });
}

// The pattern of one triangle; offsets and columns keep their types.
sxt_status copy_pattern(State &part, const sxt_csr &source, const sxt_exec *exec) {
  std::int64_t nnz = 0;
  sxt_status status = for_each_entry(source, all_rows(source),
                                     [&](std::int64_t i, std::int64_t, std::int64_t j) { nnz += part.kept(i, j); });
  if (status != SXT_OK) return status;
  part.row_ptr = Memory(exec, SXT_SPACE_HOST, (source.s.rows + 1) * index_bytes(source.s.offset_type));
  part.col = Memory(exec, SXT_SPACE_HOST, nnz * index_bytes(source.s.index_type));
  part.values = Memory(exec, SXT_SPACE_HOST, nnz * value_bytes(source.s.value_type));
  part.view.s.nnz = nnz;
  return with_csr_indices(source, [&](const auto *source_ptr, const auto *source_col) {
    // The new arrays have the types of the source's.
    auto *row_ptr = part.row_ptr.as<std::remove_cvref_t<decltype(*source_ptr)>>();
    auto *col = part.col.as<std::remove_cvref_t<decltype(*source_col)>>();
    row_ptr[0] = 0;
    for (std::int64_t i = 0; i < source.s.rows; ++i) {
      row_ptr[i + 1] = row_ptr[i];
      for (auto k = source_ptr[i]; k < source_ptr[i + 1]; ++k)
        if (part.kept(i, source_col[k])) *col++ = source_col[k], ++row_ptr[i + 1];
    }
    return SXT_OK;
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
    sxt_status status = copy_pattern(*part, whole.view, exec);
    if (status == SXT_OK) status = pick_values(*part, whole.view);
    if (status != SXT_OK) return status;
    part->view.row_ptr = part->row_ptr.data();
    part->view.col = part->col.data();
    part->view.values = part->values.data();
    part->view.s.symmetry = SXT_GENERAL;
    return give(part.release(), out);
  });
}

const sxt_storage_ops ops = {sizeof(sxt_storage_ops), view, bytes, scale, diagonal, triangle};

const sxt_kernel kernel =
    new_storage<State>(SXT_KIND_STORAGE_CSR, "storage.csr.cpu", "cpu", "compressed rows, borrowed from the matrix",
                       {&ops, nullptr, nullptr, candidates, prepare, refresh});

// Kernels that read a conversion test it, so the kind has no cases.
const sxt_kind kind = new_kind(SXT_KIND_STORAGE_CSR, "compressed sparse rows");

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *host, const sxt_plugin **out) {
  take_team(host);
  return offer<&kernel, &kind>("storage-csr", out);
}
