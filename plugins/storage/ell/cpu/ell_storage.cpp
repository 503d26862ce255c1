// SPDX-License-Identifier: BSD-3-Clause
// storage.ell.cpu: every row as wide as the longest, column by column. It owns its arrays; refused where most of it
// would be padding.
#include <algorithm>
#include <cstdint>
#include <memory>

#include "plugins/formats/ell.hpp"
#include "plugins/storage/shared/owned_values.hpp"

using namespace sextant::plugin;

namespace {

struct State {
  sxt_ell view{};
  Memory col, values;
};

const State &of(const void *state) { return *static_cast<const State *>(state); }

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  const auto &q = as<sxt_matrix_query>(query);
  return check_ell_indices(q.rows, q.cols, reason);
}

sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_matrix_query>(query);
  // The longest row is not known here; a fifth more than the mean is usual where ELL is useful.
  const double stored = 1.2 * static_cast<double>(q.nnz);
  const double bytes = stored * static_cast<double>(value_bytes(q.matrix_type) + 4);
  CandidateList list(out, capacity, count);
  sxt_candidate &candidate = list.add();
  candidate.setup_s = 5e-6 + 3 * bytes / machine->stream_rate + 2e-9 * stored / std::max(1, machine->units);
  candidate.state_bytes = sizeof(State) + static_cast<std::uint64_t>(bytes);
  candidate.working_set_bytes = bytes;
  return SXT_OK;
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *, const sxt_filled *, const sxt_exec *exec,
                   void **out) {
  return guard(exec, [&] {
    const auto &a = as<sxt_csr>(problem->a);
    if (a.s.index_type != SXT_I32)
      return error(exec, SXT_E_NOT_SUPPORTED, "storage.ell.cpu holds 32-bit columns, this matrix has 64-bit ones");
    std::int64_t width = 0;
    with_csr_indices(a, [&](const auto *row_ptr, const auto *) {
      for (std::int64_t i = 0; i < a.s.rows; ++i) width = std::max<std::int64_t>(width, row_ptr[i + 1] - row_ptr[i]);
      return SXT_OK;
    });
    if (ell_too_full(static_cast<double>(width), static_cast<double>(a.s.rows), static_cast<double>(a.s.nnz)))
      return error(exec, SXT_E_NOT_SUPPORTED,
                   "%lld rows of %lld entries would be stored for %lld nonzeros, more than %g times as many",
                   (long long)a.s.rows, (long long)width, (long long)a.s.nnz, ell_fill_limit);
    auto state = std::make_unique<State>();
    sxt_ell &ell = state->view;
    ell.s = a.s;
    ell.s.h = head<sxt_ell>(SXT_KIND_STORAGE_ELL);
    ell.width = width;
    ell.ld = ell_stride(a.s.rows);
    state->col = Memory(exec, SXT_SPACE_HOST, width * ell.ld * sizeof(std::int32_t));
    state->values = Memory(exec, SXT_SPACE_HOST, width * ell.ld * value_bytes(a.s.value_type));
    ell.col = state->col.data();
    ell.values = state->values.data();
    const sxt_status status = fill_ell(a, ell, state->col.as<std::int32_t>(), state->values.data(), exec);
    return status == SXT_OK ? give(state.release(), out) : status;
  });
}

sxt_status refresh(void *opaque, const sxt_problem *problem, const sxt_exec *exec) {
  auto &state = *static_cast<State *>(opaque);
  const auto &a = as<sxt_csr>(problem->a);
  if (const sxt_status status = check_new_values(a, state.view.s.nnz, exec); status != SXT_OK) return status;
  return fill_ell(a, state.view, nullptr, state.values.data(), exec);
}

const sxt_storage *view(const void *state) { return &of(state).view.s; }

std::uint64_t bytes(const void *state) {
  const sxt_ell &a = of(state).view;
  return a.width * a.ld * (sizeof(std::int32_t) + value_bytes(a.s.value_type));
}

constexpr auto visit = [](const State &state, int part, int team, auto &&f) {
  for_each_ell_entry(state.view, ell_part(state.view.s.rows, team, part), f);
};

const sxt_storage_ops ops = {sizeof(sxt_storage_ops),      view,   bytes, scale_owned<State, visit>,
                             diagonal_owned<State, visit>, nullptr};

const sxt_kernel kernel =
    new_storage<State>(SXT_KIND_STORAGE_ELL, "storage.ell.cpu", "cpu", "rows as wide as the longest, column by column",
                       {&ops, nullptr, applicable, candidates, prepare, refresh});

// Kernels that read a conversion test it, so the kind has no cases.
const sxt_kind kind = new_kind(SXT_KIND_STORAGE_ELL, "rows of one width, column by column");

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *host, const sxt_plugin **out) {
  take_team(host);
  return offer<&kernel, &kind>("storage-ell", out);
}
