// SPDX-License-Identifier: BSD-3-Clause
// storage.coo.cuda: coordinates sorted by row. The row of every entry is written on the device; row pointers stay for
// scaling and diagonals.
#include <algorithm>
#include <cstdint>

#include "sextant/sdk/cuda/storage.hpp"
#include "sextant/sdk/describe.hpp"
#include "sextant/sdk/storage_kernel.hpp"

using namespace sextant::plugin;
namespace cuda = sextant::plugin::cuda;

namespace {

struct State {
  cuda::DeviceCsr csr;
  cuda::DeviceArray row;
  sxt_coo view{};
};
const State &of(const void *state) { return *static_cast<const State *>(state); }

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  return cuda::check_narrow(as<sxt_matrix_query>(query), reason);
}

sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_matrix_query>(query);
  const double offset = q.nnz < cuda::narrow_limit ? 4 : 8, nnz = static_cast<double>(q.nnz);
  const double bytes =
      nnz * static_cast<double>(value_bytes(q.matrix_type) + 8) + offset * static_cast<double>(q.rows + 1);
  CandidateList list(out, capacity, count);
  sxt_candidate &candidate = list.add();
  candidate.setup_s = cuda::conversion_seconds(*machine, q, 10, 1, bytes);
  candidate.state_bytes = sizeof(State) + static_cast<std::uint64_t>(bytes);
  candidate.working_set_bytes = bytes;
  return SXT_OK;
}

struct WriteRow {
  std::int32_t *row;
  __device__ void operator()(std::int64_t i, std::int64_t k, std::int64_t) const {
    row[k] = static_cast<std::int32_t>(i);
  }
};

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *, const sxt_filled *, const sxt_exec *exec,
                   void **out) {
  return cuda::build<State>(exec, out, [&](State &state) -> sxt_status {
    state.csr = cuda::DeviceCsr(*problem, exec, cuda::Life::state);
    const sxt_csr &csr = state.csr.view();
    state.row = cuda::DeviceArray(exec, csr.s.nnz * sizeof(std::int32_t), "the row of every entry");
    cuda::visit(exec, state.csr.source(), state.csr.all(), WriteRow{state.row.as<std::int32_t>()});
    state.view = {csr.s, state.row.data(), csr.col, csr.values};
    state.view.s.h = head<sxt_coo>(SXT_KIND_STORAGE_COO);
    return SXT_OK;
  });
}

sxt_status refresh(void *state, const sxt_problem *problem, const sxt_exec *exec) {
  return cuda::guarded(exec, [&] { return of(state).csr.take_values(*problem, exec), SXT_OK; });
}

const sxt_storage *view(const void *state) { return &of(state).view.s; }
std::uint64_t bytes(const void *state) { return of(state).csr.bytes() + of(state).row.bytes(); }

// The position of an entry.
struct Where {
  const std::int32_t *row, *col;
  __device__ cuda::Position operator()(std::int64_t k) const { return {row[k], col[k]}; }
};
Where where(const State &state) { return {state.row.as<std::int32_t>(), state.csr.all().col}; }

sxt_status scale(void *opaque, const void *s, const sxt_exec *exec) {
  return cuda::guarded(exec, [&] {
    const State &state = of(opaque);
    const sxt_storage &a = state.view.s;
    return cuda::scale_stored(exec, a.value_type, state.csr.values(), a.nnz, s, where(state)), SXT_OK;
  });
}

sxt_status diagonal(const void *opaque, void *out, const sxt_exec *exec) {
  return cuda::guarded(exec, [&] {
    const State &state = of(opaque);
    const sxt_storage &a = state.view.s;
    return cuda::diagonal_stored(exec, a, state.csr.values(), a.nnz, out, where(state)), SXT_OK;
  });
}

const sxt_storage_ops ops = {sizeof(sxt_storage_ops), view, bytes, scale, diagonal, nullptr};

const sxt_kernel kernel =
    new_storage<State>(SXT_KIND_STORAGE_COO, "storage.coo.cuda", "cuda", "coordinates on the device, sorted by row",
                       {&ops, nullptr, applicable, candidates, prepare, refresh});

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  return offer<&kernel>("storage-coo-cuda", out);
}
