// SPDX-License-Identifier: BSD-3-Clause
// spmv.ell.cuda: y = alpha A x + beta y with ELL, a thread a row. Bound: memory, width x rows x (value + 4) bytes for
// A, x and y once; or the sectors of x that the multiprocessors ask of the last cache. 2 flops a stored entry.
// Deterministic: a row is added in the order of its columns.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "sextant/plugin_cuda_ell_rows.hpp"
#include "sextant/plugin_ell.hpp"

namespace sextant::spmv_ell_cuda {
namespace {

using namespace plugin;
using namespace plugin::cuda;

template <class V, class M, int flight>
__global__ void __launch_bounds__(512, 1) multiply(EllArrays<M> a, Product<V> p) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  V alpha, beta;
  const V sum = ell_row<flight>(a, i, p.x, [&] {
    await_predecessor();
    release_successor();
    alpha = p.alpha(), beta = p.beta();
  });
  if (i < a.rows) store(p.y + i, sum, alpha, beta);
}

const char *const storages[] = {SXT_KIND_STORAGE_ELL, nullptr};
const char *const features[] = {SXT_CUDA_X_FEATURES(1), "row_nnz_max", nullptr};
enum { feature_row_max = n_cuda_x_features };

struct State {
  const sxt_ell *a;
  sxt_value_type type;
  std::int64_t threads;
  bool early;
};

sxt_status applicable(const sxt_query *query, const sxt_features *found, const sxt_machine *, sxt_message *reason) {
  const auto &q = as<sxt_spmv_query>(query);
  const sxt_status status = check_ell_query(q, reason);
  if (status != SXT_OK) return status;
  const double width = feature(found, feature_row_max), rows = static_cast<double>(q.m.rows);
  const double nnz = static_cast<double>(q.m.nnz);
  if (std::isfinite(width) && ell_too_full(width, rows, nnz))
    return refuse(reason,
                  "%.0f rows of %.0f entries would be stored for %.0f nonzeros, %.1f times as many; the limit is %g",
                  rows, width, nnz, width * rows / nnz, ell_fill_limit);
  return check_ell_indices(q.m.rows, q.m.cols, reason);
}

sxt_status candidates(const sxt_query *query, const sxt_features *found, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_spmv_query>(query);
  const double rows = static_cast<double>(q.m.rows), nnz = static_cast<double>(q.m.nnz);
  SpmvCost cost;
  cost.launches = cost.passes = q.n_rhs;
  cost.lanes = rows > 0 ? rows * feature_or(found, feature_row_max, 1.2 * nnz / rows) : 0;
  cost.matrix_bytes = cost.lanes * static_cast<double>(value_bytes(q.m.matrix_type) + 4);
  cost.warp_steps = std::ceil(cost.lanes / 32);
  cost.chain = rows > 0 ? 2 * std::ceil(cost.lanes / rows / 12) : 0;  // an entry, then its element of x
  add_x_cost(cost, q, found, 0, *machine);
  CandidateList list(out, capacity, count);
  for (std::int64_t threads : {64, 128, 256}) {
    sxt_candidate &candidate = fill_spmv(list.add(), q, *machine, std::ceil(rows / static_cast<double>(threads)), cost);
    candidate.launch[1] = threads;
    candidate.launch[3] = may_start_early(*machine);
    candidate.state_bytes = sizeof(State);
  }
  return SXT_OK;
}

sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *, const sxt_exec *exec,
                   void **out) {
  return guard(exec, [&] {
    const auto &a = as<sxt_ell>(problem->a);
    if (a.s.index_type != SXT_I32) return error(exec, SXT_E_NOT_SUPPORTED, "spmv.ell.cuda reads 32-bit columns");
    const bool chosen = candidate && candidate->launch[1] > 0;
    return give(
        new State{&a, problem->query->value_type, chosen ? candidate->launch[1] : 256, chosen && candidate->launch[3]},
        out);
  });
}

sxt_status refresh(void *state, const sxt_problem *problem, const sxt_exec *) {
  return static_cast<State *>(state)->a = &as<sxt_ell>(problem->a), SXT_OK;
}

// f(kernel, Tag<V>{}, Tag<M>{}) with the kernel for this state's types and width.
template <class F>
sxt_status with_kernel(const State &state, F &&f) {
  return with_real_pair(state.type, state.a->s.value_type, [&](auto v, auto m) {
    return with_ell_flight(state.a->width, [&](auto flight) {
      return f(multiply<typename decltype(v)::type, typename decltype(m)::type, decltype(flight)::value>, v, m);
    });
  });
}

// There is nothing to keep for a caller: only code is loaded.
sxt_status open(const void *opaque, const sxt_filled *, const sxt_exec *exec, void **session) {
  *session = nullptr;
  return with_kernel(*static_cast<const State *>(opaque), [&](auto *kernel, auto, auto) { return load(exec, kernel); });
}

sxt_status run(const void *opaque, void *, const sxt_head *head, const sxt_exec *exec) {
  const auto &state = *static_cast<const State *>(opaque);
  const auto &args = as<sxt_spmv_args>(head);
  if (args.op != SXT_NO_TRANSPOSE)
    return error(exec, SXT_E_NOT_SUPPORTED, "spmv.ell.cuda does not transpose; op is %d", args.op);
  if (state.a->s.rows == 0) return SXT_OK;
  return with_kernel(state, [&](auto *kernel, auto v, auto m) {
    using V = typename decltype(v)::type;
    const auto arrays = ell_arrays<typename decltype(m)::type>(*state.a);
    const auto blocks = static_cast<unsigned>(divide_up(state.a->s.rows, state.threads));
    sxt_status status = SXT_OK;
    // Right-hand sides one after the other.
    for (std::int32_t r = 0; r < args.n_rhs && status == SXT_OK; ++r)
      status = launch_chained(exec, state.early, "a product with ELL", kernel, blocks,
                              static_cast<unsigned>(state.threads), 0, arrays, columns_from(product_of<V>(args), r, 1));
    return status;
  });
}

sxt_status launch_config(const sxt_query *query, const sxt_candidate *candidate, const sxt_machine *,
                         sxt_launch_config *out) {
  const std::int64_t rows = as<sxt_spmv_query>(query).m.rows, threads = candidate->launch[1];
  *out = sxt_launch_config{std::max<std::int64_t>(1, divide_up(rows, threads)), threads, 0, 80, candidate->run_s};
  return SXT_OK;
}

const sxt_kernel kernel = [] {
  sxt_kernel k = new_kernel(SXT_KIND_SPMV, "spmv.ell.cuda", "cuda", "ELL, a thread a row", run);
  k.flags = SXT_KERNEL_DETERMINISTIC | SXT_KERNEL_CAPTURABLE;
  k.value_types = type_bit(SXT_F32) | type_bit(SXT_F64);
  k.storages = storages;
  k.features = features;
  k.term_names = spmv_terms;
  k.term_defaults = spmv_term_defaults;
  k.applicable = applicable;
  k.candidates = candidates;
  k.prepare = prepare;
  k.refresh = refresh;
  k.open = open;
  k.release = destroy<State>;
  k.launch_config = launch_config;
  return k;
}();

}  // namespace
}  // namespace sextant::spmv_ell_cuda

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  static const sxt_kernel *const kernels[] = {&sextant::spmv_ell_cuda::kernel};
  static const sxt_plugin plugin = sextant::plugin::describe("spmv-ell-cuda", kernels);
  return *out = &plugin, SXT_OK;
}
