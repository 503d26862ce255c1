// SPDX-License-Identifier: BSD-3-Clause
// storage.dia.cpu and storage.dia-symmetric.cpu: diagonals as arrays. The symmetric form holds the upper ones only, and
// no main diagonal once scaling has made it all ones.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>

#include "dia_fill.hpp"
#include "plugins/storage/shared/storage.hpp"
#include "sextant/sdk/cpu/storage.hpp"

using namespace sextant::plugin;

namespace {

using storage_dia::fill;
using storage_dia::leading_dimension;
using storage_dia::Marks;

struct State {
  sxt_dia view{};
  Memory offsets, values;
  std::int64_t diagonals = 0;  // as built: while the unit diagonal is left out, view has one fewer
  std::int64_t source_nnz = 0;
};

const State &of(const void *state) { return *static_cast<const State *>(state); }

template <bool symmetric>
sxt_status applicable(const sxt_query *query, const sxt_features *found, const sxt_machine *, sxt_message *reason) {
  const auto &m = as<sxt_matrix_query>(query);
  sxt_matrix_query stored = m;
  stored.q.value_type = m.matrix_type;  // vectors do not matter here
  return dia_refusal(stored, found, symmetric, reason);
}

template <bool symmetric>
sxt_status candidates(const sxt_query *query, const sxt_features *found, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &m = as<sxt_matrix_query>(query);
  const double diagonals = dia_diagonals(m, found), stored = symmetric ? std::ceil((diagonals + 1) / 2) : diagonals;
  const double bytes = stored * static_cast<double>(m.rows) * static_cast<double>(value_bytes(m.matrix_type));
  const double source = static_cast<double>(m.nnz) * (static_cast<double>(value_bytes(m.matrix_type)) + 4);
  CandidateList list(out, capacity, count);
  sxt_candidate &candidate = list.add();
  // The columns are read twice and marked, the values once; the diagonals are zeroed, then written.
  candidate.setup_s = 1e-5 + (2 * source + 3 * bytes) / machine->stream_rate;
  candidate.state_bytes = sizeof(State) + static_cast<std::uint64_t>(bytes);
  candidate.working_set_bytes = bytes;
  return SXT_OK;
}

// The whole form again: all diagonals, none left out.
void show_all(State &state) {
  state.view.unit_diagonal = 0;
  state.view.n_diagonals = state.diagonals;
  state.view.host_offsets = state.offsets.as<std::int64_t>();
  state.view.offsets = state.view.host_offsets;
  state.view.values = state.values.data();
}

// Leaves the main diagonal out when it is one up to the rounding of symmetric scaling.
void leave_out_unit_diagonal(State &state) {
  sxt_dia &view = state.view;
  if (!view.symmetric || !view.n_diagonals || view.host_offsets[0] != 0) return;
  const bool unit =
      with_value_type(view.s.value_type, [&](auto tag) {
        using T = typename decltype(tag)::type;
        using R = real_of<T>;
        const T *diagonal = static_cast<const T *>(view.values);
        return std::all_of(diagonal, diagonal + view.s.rows,
                           [](T value) { return std::abs(value - T(1)) <= 4 * std::numeric_limits<R>::epsilon(); })
                   ? SXT_OK
                   : SXT_NOT_APPLICABLE;
      }) == SXT_OK;
  if (!unit || !view.s.rows) return;
  view.unit_diagonal = 1;
  view.n_diagonals -= 1;
  view.host_offsets += 1;
  view.offsets = view.host_offsets;
  view.values = static_cast<const char *>(view.values) + view.ld * value_bytes(view.s.value_type);
}

template <bool symmetric>
sxt_status prepare(const sxt_problem *problem, const sxt_candidate *, const sxt_filled *, const sxt_exec *exec,
                   void **out) {
  return guard(exec, [&] {
    const auto &source = as<sxt_csr>(problem->a);
    const int team = std::max(1, exec->threads);
    const Marks marks(source, team);
    const std::int64_t first = symmetric ? 0 : 1 - std::max<std::int64_t>(1, source.s.rows);
    const std::int64_t all = marks.count(1 - std::max<std::int64_t>(1, source.s.rows)), count = marks.count(first);
    if (dia_too_empty(static_cast<double>(all), static_cast<double>(source.s.rows), static_cast<double>(source.s.nnz)))
      return error(exec, SXT_NOT_APPLICABLE,
                   "%lld diagonals x %lld rows for %lld entries: more than %.0f places an entry", (long long)all,
                   (long long)source.s.rows, (long long)source.s.nnz, dia_most_slots);

    auto state = std::make_unique<State>();
    state->view.s = source.s;
    state->view.s.h = head<sxt_dia>(symmetric ? SXT_KIND_STORAGE_DIA_SYMMETRIC : SXT_KIND_STORAGE_DIA);
    state->view.symmetric = symmetric;
    state->view.ld = leading_dimension(source.s.rows, source.s.value_type);
    state->source_nnz = source.s.nnz;
    state->diagonals = count;
    state->offsets = Memory(exec, SXT_SPACE_HOST, static_cast<std::uint64_t>(count) * sizeof(std::int64_t));
    state->values = Memory(exec, SXT_SPACE_HOST,
                           static_cast<std::uint64_t>(count * state->view.ld) * value_bytes(source.s.value_type));
    marks.list(first, state->offsets.as<std::int64_t>());
    show_all(*state);
    if (const sxt_status status = fill(source, state->view, state->values.data(), team); status != SXT_OK)
      return status;
    leave_out_unit_diagonal(*state);
    return give(state.release(), out);
  });
}

sxt_status refresh(void *opaque, const sxt_problem *problem, const sxt_exec *exec) {
  auto &state = *static_cast<State *>(opaque);
  const auto &source = as<sxt_csr>(problem->a);
  if (const sxt_status status = check_new_values(source, state.source_nnz, exec); status != SXT_OK) return status;
  show_all(state);
  const sxt_status status = fill(source, state.view, state.values.data(), std::max(1, exec->threads));
  if (status == SXT_OK) leave_out_unit_diagonal(state);
  return status;
}

const sxt_storage *view(const void *state) { return &of(state).view.s; }

std::uint64_t bytes(const void *opaque) {
  const State &state = of(opaque);
  return static_cast<std::uint64_t>(state.diagonals) *
         (sizeof(std::int64_t) + static_cast<std::uint64_t>(state.view.ld) * value_bytes(state.view.s.value_type));
}

sxt_status scale(void *opaque, const void *s, const sxt_exec *exec) {
  return guard(exec, [&] {
    auto &state = *static_cast<State *>(opaque);
    show_all(state);
    // A diagonal of ones that was left out is still in the array.
    const sxt_dia &a = state.view;
    const sxt_status status =
        scale_entries(a.s.value_type, state.values.data(), s, exec, [&](int part, int team, auto &&scale_one) {
          const Range rows = part_of(a.s.rows, team, part, dia_block);
          for (std::int64_t d = 0; d < a.n_diagonals; ++d) {
            const std::int64_t offset = a.host_offsets[d];
            const std::int64_t end = std::min(rows.end, a.s.cols - offset);
            for (std::int64_t i = std::max(rows.begin, -offset); i < end; ++i) scale_one(d * a.ld + i, i, i + offset);
          }
        });
    if (status == SXT_OK) leave_out_unit_diagonal(state);
    return status;
  });
}

sxt_status diagonal(const void *opaque, void *out, const sxt_exec *) {
  const State &state = of(opaque);
  const sxt_dia &a = state.view;
  return with_value_type(a.s.value_type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T *to = static_cast<T *>(out);
    const std::int64_t n = std::min(a.s.rows, a.s.cols);
    std::fill_n(to, n, T(a.unit_diagonal ? 1 : 0));
    for (std::int64_t d = 0; d < a.n_diagonals; ++d)
      if (a.host_offsets[d] == 0) std::copy_n(static_cast<const T *>(a.values) + d * a.ld, n, to);
    return SXT_OK;
  });
}

const sxt_storage_ops ops = {sizeof(sxt_storage_ops), view, bytes, scale, diagonal, nullptr};

template <bool symmetric>
constexpr StorageCalls calls = {&ops,   dia_features, applicable<symmetric>, candidates<symmetric>, prepare<symmetric>,
                                refresh};

const sxt_kernel plain =
    new_storage<State>(SXT_KIND_STORAGE_DIA, "storage.dia.cpu", "cpu", "diagonals as arrays", calls<false>);
const sxt_kernel symmetric =
    new_storage<State>(SXT_KIND_STORAGE_DIA_SYMMETRIC, "storage.dia-symmetric.cpu", "cpu",
                       "upper diagonals as arrays, without a main one that is all ones", calls<true>);

const sxt_kind plain_kind = new_kind(SXT_KIND_STORAGE_DIA, "diagonals");
const sxt_kind symmetric_kind = new_kind(SXT_KIND_STORAGE_DIA_SYMMETRIC, "upper diagonals of a symmetric matrix");

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *host, const sxt_plugin **out) {
  take_team(host);
  return offer<&plain, &symmetric, &plain_kind, &symmetric_kind>("storage-dia", out);
}
