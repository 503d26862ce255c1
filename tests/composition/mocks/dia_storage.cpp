// SPDX-License-Identifier: BSD-3-Clause
// storage.dia.deferred: diagonals in device memory, published for kernels of any plugin.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "mock_kernel.hpp"
#include "sextant/sdk/describe.hpp"

using namespace sextant::plugin;

namespace {

struct State {
  sxt_dia view{};
  std::vector<std::int64_t> offsets;  // increasing
  std::vector<double> staging;        // copied to the device in stream order, so it must outlive the call
  Memory device_offsets, device_values;
};

const State &of(const void *state) { return *static_cast<const State *>(state); }

sxt_status applicable(const sxt_query *query, const sxt_features *, const sxt_machine *, sxt_message *reason) {
  if (as<sxt_matrix_query>(query).matrix_type != SXT_F64) return refuse(reason, "the matrix is not f64");
  return SXT_OK;
}

sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  return mock::one_price(out, capacity, count, 0, 1e-6 + 1e-9 * static_cast<double>(as<sxt_matrix_query>(query).nnz));
}

// Calls f(row, column, position) for every entry.
template <class F>
void for_each_entry(const sxt_csr &a, F &&f) {
  const auto *row_ptr = static_cast<const std::int32_t *>(a.row_ptr), *col = static_cast<const std::int32_t *>(a.col);
  for (std::int64_t i = 0; i < a.s.rows; ++i)
    for (std::int32_t k = row_ptr[i]; k < row_ptr[i + 1]; ++k) f(i, std::int64_t{col[k]}, k);
}

void find_offsets(State &state, const sxt_csr &source) {
  for_each_entry(source, [&](std::int64_t i, std::int64_t j, std::int32_t) { state.offsets.push_back(j - i); });
  std::sort(state.offsets.begin(), state.offsets.end());
  state.offsets.erase(std::unique(state.offsets.begin(), state.offsets.end()), state.offsets.end());
}

sxt_status send_values(State &state, const sxt_csr &source, const sxt_exec *exec) {
  std::fill(state.staging.begin(), state.staging.end(), 0.0);
  const auto *values = static_cast<const double *>(source.values);
  for_each_entry(source, [&](std::int64_t i, std::int64_t j, std::int32_t k) {
    const auto d = std::lower_bound(state.offsets.begin(), state.offsets.end(), j - i) - state.offsets.begin();
    state.staging[d * state.view.ld + i] = values[k];
  });
  return exec->host->copy(exec->host, exec, state.device_values.data(), state.staging.data(), state.staging.size() * 8);
}

void publish(State &state, const sxt_csr &source) {
  state.view.s = source.s;
  state.view.s.h = head<sxt_dia>(SXT_KIND_STORAGE_DIA);
  state.view.s.space = SXT_SPACE_DEVICE;
  state.view.n_diagonals = static_cast<std::int64_t>(state.offsets.size());
  state.view.ld = source.s.rows;
  state.view.host_offsets = state.offsets.data();
  state.view.offsets = state.device_offsets.data();
  state.view.values = state.device_values.data();
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *, const sxt_filled *, const sxt_exec *exec,
                   void **out) {
  return guard(exec, [&] {
    const auto &source = as<sxt_csr>(problem->a);
    if (source.s.index_type != SXT_I32 || source.s.offset_type != SXT_I32)
      return error(exec, SXT_E_TYPE, "the mock reads i32 indices only");
    auto state = std::make_unique<State>();
    find_offsets(*state, source);
    state->staging.resize(state->offsets.size() * source.s.rows);
    state->device_offsets = Memory(exec, SXT_SPACE_DEVICE, state->offsets.size() * 8);
    state->device_values = Memory(exec, SXT_SPACE_DEVICE, state->staging.size() * 8);
    publish(*state, source);
    exec->host->copy(exec->host, exec, state->device_offsets.data(), state->offsets.data(), state->offsets.size() * 8);
    const sxt_status sent = send_values(*state, source, exec);
    return sent == SXT_OK ? give(state.release(), out) : sent;
  });
}

sxt_status refresh(void *state, const sxt_problem *problem, const sxt_exec *exec) {
  mock::add("dia refreshes");
  return send_values(*static_cast<State *>(state), as<sxt_csr>(problem->a), exec);
}

const sxt_storage *view(const void *state) { return &of(state).view.s; }
std::uint64_t bytes(const void *state) { return of(state).staging.size() * 8 + of(state).offsets.size() * 8; }

sxt_status diagonal(const void *state, void *out, const sxt_exec *exec) {
  return mock::launch(exec->stream, [a = of(state).view, out = static_cast<double *>(out)] {
    std::fill_n(out, a.s.rows, 0.0);
    for (std::int64_t d = 0; d < a.n_diagonals; ++d)
      if (static_cast<const std::int64_t *>(a.offsets)[d] == 0)
        std::copy_n(static_cast<const double *>(a.values) + d * a.ld, a.s.rows, out);
  });
}

sxt_status run(const void *, void *, const sxt_head *, const sxt_exec *) { return SXT_E_NOT_SUPPORTED; }

const sxt_storage_ops ops = {sizeof(sxt_storage_ops), view, bytes, nullptr, diagonal, nullptr};

const sxt_kernel kernel = [] {
  sxt_kernel k =
      new_kernel(SXT_KIND_STORAGE_DIA, "storage.dia.deferred", "deferred", "diagonals in device memory", run);
  k.flags = SXT_KERNEL_DETERMINISTIC;
  k.ops = &ops;
  k.applicable = applicable;
  k.candidates = candidates;
  k.prepare = prepare;
  k.refresh = refresh;
  k.release = destroy<State>;
  return k;
}();

const sxt_kind kind = new_kind(SXT_KIND_STORAGE_DIA, "diagonals");

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  return offer<&kernel, &kind>("hard-storage-dia", out);
}
