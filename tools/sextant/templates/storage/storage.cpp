// SPDX-License-Identifier: BSD-3-Clause
// @KERNEL@: builds the format of format.hpp from CSR. Row pointers are borrowed from the matrix, and values until they
// are scaled.
#include <cstdint>
#include <limits>
#include <memory>

#include "format.hpp"
#include "sextant/sdk/cpu/csr.hpp"
#include "sextant/sdk/cpu/storage.hpp"
#include "sextant/sdk/storage_kernel.hpp"
#include "sextant/sdk/third_party.hpp"

using namespace sextant::plugin;

extern const sxt_kernel product_kernel;  // product.cpp

namespace {

struct State {
  NearCsr view{};
  Memory distance, values;  // values: empty while they are the matrix's
};
const State &of(const void *state) { return *static_cast<const State *>(state); }

// Features of the matrix could decide here; the bandwidth costs a pass over it, which prepare makes anyway.
sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  const auto &q = as<sxt_matrix_query>(query);
  if (q.symmetry == SXT_SKEW) return refuse(reason, "skew-symmetric matrices are not taken");
  return SXT_OK;
}

// The set-up reads columns and writes distances, on one thread. A product then reads 2 bytes an entry beside its value.
sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_matrix_query>(query);
  const double nnz = static_cast<double>(q.nnz);
  CandidateList list(out, capacity, count);
  sxt_candidate &candidate = list.add();
  candidate.setup_s = 1e-6 + 6 * nnz / machine->stream_rate_unit;
  candidate.state_bytes = sizeof(State) + static_cast<std::uint64_t>(2 * q.nnz);
  candidate.working_set_bytes = nnz * (2 + static_cast<double>(value_bytes(q.matrix_type)));
  return SXT_OK;
}

sxt_status write_distances(const sxt_csr &a, std::int16_t *distance, const sxt_exec *exec) {
  using Limits = std::numeric_limits<std::int16_t>;
  std::int64_t wide = -1;
  const sxt_status status = for_each_entry(a, {0, a.s.rows}, [&](std::int64_t i, std::int64_t k, std::int64_t j) {
    if (j - i < Limits::min() || j - i > Limits::max()) wide = i;
    distance[k] = static_cast<std::int16_t>(j - i);
  });
  if (wide < 0) return status;
  error(exec, SXT_NOT_APPLICABLE, "row %lld (counting from 0) has an entry more than 32767 columns away",
        (long long)wide);
  return SXT_NOT_APPLICABLE;  // another format takes its place
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *, const sxt_filled *, const sxt_exec *exec,
                   void **out) {
  return guard(exec, [&]() -> sxt_status {
    const auto &a = as<sxt_csr>(problem->a);
    auto state = std::make_unique<State>();
    state->distance = Memory(exec, SXT_SPACE_HOST, static_cast<std::uint64_t>(a.s.nnz) * sizeof(std::int16_t));
    if (const sxt_status failed = write_distances(a, state->distance.as<std::int16_t>(), exec)) return failed;
    state->view = {a.s, a.row_ptr, a.values, state->distance.as<std::int16_t>()};
    state->view.s.h = head<NearCsr>(KIND_STORAGE);
    return give(state.release(), out);
  });
}

// The CSR with other values on the same pattern.
sxt_status refresh(void *opaque, const sxt_problem *problem, const sxt_exec *) {
  State &state = *static_cast<State *>(opaque);
  const auto &a = as<sxt_csr>(problem->a);
  if (!state.values.data()) return state.view.values = a.values, SXT_OK;
  std::memcpy(state.values.data(), a.values, static_cast<std::uint64_t>(a.s.nnz) * value_bytes(a.s.value_type));
  return SXT_OK;
}

const sxt_storage *view(const void *state) { return &of(state).view.s; }

std::uint64_t bytes(const void *state) {
  const sxt_storage &s = of(state).view.s;
  return static_cast<std::uint64_t>(s.nnz) * (2 + (of(state).values.data() ? value_bytes(s.value_type) : 0));
}

// Calls f(place, row, column) for the entries of some rows.
template <class F>
sxt_status for_each(const NearCsr &a, Range rows, F &&f) {
  return with_index_type(a.s.offset_type, [&]<class Offset>(Tag<Offset>) {
    const auto *row_ptr = static_cast<const Offset *>(a.row_ptr);
    for (std::int64_t i = rows.begin; i < rows.end; ++i)
      for (std::int64_t k = row_ptr[i]; k < row_ptr[i + 1]; ++k) f(k, i, i + a.distance[k]);
    return SXT_OK;
  });
}

// A becomes S A S.
sxt_status scale(void *opaque, const void *s, const sxt_exec *exec) {
  return guard(exec, [&] {
    State &state = *static_cast<State *>(opaque);
    NearCsr &a = state.view;
    own_values(a, state.values, static_cast<std::uint64_t>(a.s.nnz) * value_bytes(a.s.value_type), exec);
    return scale_entries(a.s.value_type, state.values.data(), s, exec, [&](int part, int team, auto &&scale_one) {
      for_each(a, part_of(a.s.rows, team, part), scale_one);
    });
  });
}

sxt_status diagonal(const void *state, void *out, const sxt_exec *) {
  const NearCsr &a = of(state).view;
  return diagonal_entries(a.s, a.values, out, [&](auto &&look) { return for_each(a, {0, a.s.rows}, look); });
}

// No triangle is offered: preconditioners that need one take another format.
const sxt_storage_ops ops = {sizeof(sxt_storage_ops), view, bytes, scale, diagonal, nullptr};

const sxt_kernel kernel = new_storage<State>(KIND_STORAGE, "@KERNEL@", "cpu", "rows with columns as 16-bit distances",
                                             {&ops, nullptr, applicable, candidates, prepare, refresh});
const sxt_kind kind = new_kind(KIND_STORAGE, "compressed rows, columns as 16-bit distances from the row");

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *host, const sxt_plugin **out) {
  take_team(host);
  static const sxt_kernel *const kernels[] = {&kernel, &product_kernel};
  static const sxt_kind *const kinds[] = {&kind};
  static const sxt_plugin plugin = third_party(describe("@NAME@", kernels, kinds, 1), "0.1.0", nullptr, nullptr);
  return *out = &plugin, SXT_OK;
}
