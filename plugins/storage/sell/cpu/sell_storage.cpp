// SPDX-License-Identifier: BSD-3-Clause
// storage.sell.cpu: slices of eight rows, sorted by length within windows of 512 where that saves padding. It owns all
// arrays.
#include "sell_storage.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>

using namespace sextant::plugin;
using namespace sextant::storage_sell;

namespace {

const State &of(const void *state) { return *static_cast<const State *>(state); }

// Calls f(position, row, column) for the entries of some slices.
template <class F>
void for_each_stored(const State &state, Range slices, F &&f) {
  const auto *slice_ptr = state.slice_ptr.as<std::int64_t>();
  const auto *col = state.col.as<std::int32_t>();
  for (std::int64_t s = slices.begin; s < slices.end; ++s)
    for (std::int64_t at = slice_ptr[s]; at < slice_ptr[s + 1]; ++at)
      if (col[at] >= 0)
        f(at, state.row_of(s * slice + (at - slice_ptr[s]) % slice), static_cast<std::int64_t>(col[at]));
}

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  const auto &q = as<sxt_matrix_query>(query);
  const std::int64_t most = std::max(q.rows, q.cols);
  if (most >= std::int64_t{1} << 31)
    return refuse(reason, "%lld rows or columns do not fit the 32-bit indices it holds", (long long)most);
  return SXT_OK;
}

sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_matrix_query>(query);
  const double entry = static_cast<double>(value_bytes(q.matrix_type)) + 4, rows = static_cast<double>(q.rows);
  // Padding is not known here; a tenth is usual.
  const double bytes = 1.1 * static_cast<double>(q.nnz) * entry + 5 * rows;
  CandidateList list(out, capacity, count);
  sxt_candidate &candidate = list.add();
  // Read once, written once (and fetched before), about two nanoseconds an entry and thirty a row to sort and scatter.
  const double work = 2e-9 * static_cast<double>(q.nnz) + 30e-9 * rows;
  candidate.setup_s = 5e-6 + 3 * bytes / machine->stream_rate + work / std::max(1, machine->units);
  candidate.state_bytes = sizeof(State) + static_cast<std::uint64_t>(bytes);
  candidate.working_set_bytes = bytes;
  return SXT_OK;
}

std::unique_ptr<State> new_state(const sxt_storage &source) {
  auto state = std::make_unique<State>();
  state->view.s = source;
  state->view.s.h = head<sxt_sell>(SXT_KIND_STORAGE_SELL);
  state->view.s.index_type = SXT_I32;
  state->view.s.offset_type = SXT_I64;
  state->view.slice = slice;
  state->view.sigma = sigma;
  state->source_nnz = source.nnz;
  return state;
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *, const sxt_filled *, const sxt_exec *exec,
                   void **out) {
  return guard(exec, [&] {
    const auto &source = as<sxt_csr>(problem->a);
    auto state = new_state(source.s);
    const sxt_status status = build(*state, source, exec);
    return status == SXT_OK ? give(state.release(), out) : status;
  });
}

sxt_status refresh(void *opaque, const sxt_problem *problem, const sxt_exec *exec) {
  auto &state = *static_cast<State *>(opaque);
  const auto &source = as<sxt_csr>(problem->a);
  if (const sxt_status status = check_new_values(source, state.source_nnz, exec); status != SXT_OK) return status;
  return fill_values(state, source, exec);
}

const sxt_storage *view(const void *state) { return &of(state).view.s; }

std::uint64_t bytes(const void *opaque) {
  const State &state = of(opaque);
  const sxt_sell &a = state.view;
  return (a.n_slices + 1) * sizeof(std::int64_t) + (a.perm ? a.s.rows * sizeof(std::int32_t) : 0) +
         state.stored() * (sizeof(std::int32_t) + value_bytes(a.s.value_type));
}

constexpr auto visit = [](const State &state, int part, int team, auto &&f) {
  for_each_stored(state, part_of(state.view.n_slices, team, part), f);
};

// The entries as rows again, from which a triangle is built.
struct Rows {
  Memory row_ptr, col, values;
  sxt_csr csr{};
};

template <class T>
void gather_rows(const State &state, Rows &rows) {
  auto *row_ptr = rows.row_ptr.as<std::int64_t>();
  std::fill_n(row_ptr, state.view.s.rows + 1, std::int64_t{0});
  const Range all = {0, state.view.n_slices};
  for_each_stored(state, all, [&](std::int64_t, std::int64_t i, std::int64_t) { ++row_ptr[i + 1]; });
  for (std::int64_t i = 0; i < state.view.s.rows; ++i) row_ptr[i + 1] += row_ptr[i];
  // Slot by slot, so that each row's columns come in order: row_ptr[i] runs to the row's end and is set back after.
  for_each_stored(state, all, [&](std::int64_t at, std::int64_t i, std::int64_t j) {
    const std::int64_t k = row_ptr[i]++;
    rows.col.as<std::int32_t>()[k] = static_cast<std::int32_t>(j);
    rows.values.as<T>()[k] = state.values.as<T>()[at];
  });
  for (std::int64_t i = state.view.s.rows; i > 0; --i) row_ptr[i] = row_ptr[i - 1];
  row_ptr[0] = 0;
}

sxt_status triangle(const void *opaque, sxt_triangle which, std::int32_t with_diagonal, const sxt_exec *exec,
                    void **out) {
  return guard(exec, [&] {
    const State &whole = of(opaque);
    Rows rows;
    rows.row_ptr = Memory(exec, SXT_SPACE_HOST, (whole.view.s.rows + 1) * sizeof(std::int64_t));
    rows.col = Memory(exec, SXT_SPACE_HOST, whole.view.s.nnz * sizeof(std::int32_t));
    rows.values = Memory(exec, SXT_SPACE_HOST, whole.view.s.nnz * value_bytes(whole.view.s.value_type));
    with_value_type(whole.view.s.value_type,
                    [&](auto tag) { return gather_rows<typename decltype(tag)::type>(whole, rows), SXT_OK; });
    rows.csr = {whole.view.s, rows.row_ptr.data(), rows.col.data(), rows.values.data()};
    auto part = new_state(whole.view.s);
    part->source_nnz = whole.source_nnz;
    part->kept = whole.kept.triangle(which, with_diagonal);
    part->view.s.symmetry = SXT_GENERAL;
    const sxt_status status = build(*part, rows.csr, exec);
    if (status != SXT_OK) return status;
    part->view.s.nnz = 0;
    for_each_stored(*part, {0, part->view.n_slices}, [&](auto, auto, auto) { ++part->view.s.nnz; });
    return give(part.release(), out);
  });
}

const sxt_storage_ops ops = {sizeof(sxt_storage_ops),      view,    bytes, scale_owned<State, visit>,
                             diagonal_owned<State, visit>, triangle};

const sxt_kernel kernel =
    new_storage<State>(SXT_KIND_STORAGE_SELL, "storage.sell.cpu", "cpu",
                       "slices of eight rows, sorted by length in windows of 512 where that saves padding",
                       {&ops, nullptr, applicable, candidates, prepare, refresh});

// Kernels that read a conversion test it, so the kind has no cases.
const sxt_kind kind = new_kind(SXT_KIND_STORAGE_SELL, "slices of rows, sorted by length within windows");

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *host, const sxt_plugin **out) {
  take_team(host);
  return offer<&kernel, &kind>("storage-sell", out);
}
