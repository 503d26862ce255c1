// SPDX-License-Identifier: BSD-3-Clause
// spmv.ell.cuda: y = alpha A x + beta y with ELL, a thread a row. Bound: memory, width x rows x (value + 4) bytes for
// A, x and y once; or the sectors of x that the multiprocessors ask of the last cache. 2 flops a stored entry.
// Deterministic: a row is added in the order of its columns.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "plugins/formats/cuda/ell_rows.hpp"
#include "plugins/formats/cuda/plain_product.hpp"
#include "plugins/formats/ell.hpp"
#include "sextant/plugin/order.h"
#include "sextant/sdk/describe.hpp"

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

using State = PlainState<sxt_ell>;

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
  cost.chain = rows > 0 ? ell_rounds(cost.lanes / rows) : 0;
  cost.resident = 1024;
  add_x_cost(cost, q, found, 0, *machine);
  CandidateList list(out, capacity, count);
  for (std::int64_t threads : {64, 128, 256}) {
    const double blocks = std::ceil(rows / static_cast<double>(threads));
    cost.threads = static_cast<double>(threads);
    // Rounds of all the blocks that a multiprocessor runs one after the other.
    cost.busiest = cost.chain * std::ceil(blocks * cost.threads / (cost.resident * std::max(1, machine->units)));
    sxt_candidate &candidate = fill_spmv(list.add(), q, *machine, blocks, cost);
    candidate.model_class = static_cast<std::uint32_t>(threads / 64);
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
    return give(new State(*problem, candidate), out);
  });
}

struct Ell {
  using State = spmv_ell_cuda::State;
  static constexpr const char *name = "spmv.ell.cuda", *what = "a product with ELL";
  static std::int64_t blocks(const State &state) { return divide_up(state.a->s.rows, state.threads); }
  template <class M>
  static EllArrays<M> arrays(const State &state) {
    return ell_arrays<M>(*state.a);
  }
  template <class F>
  static sxt_status with_kernel(const State &state, F &&f) {
    return with_real_pair(state.type, state.a->s.value_type, [&](auto v, auto m) {
      return with_ell_flight(state.a->width, [&](auto flight) {
        return f(multiply<typename decltype(v)::type, typename decltype(m)::type, decltype(flight)::value>, v, m);
      });
    });
  }
};

sxt_status launch_config(const sxt_query *query, const sxt_candidate *candidate, const sxt_machine *,
                         sxt_launch_config *out) {
  const std::int64_t rows = as<sxt_spmv_query>(query).m.rows, threads = candidate->launch[1];
  *out = sxt_launch_config{std::max<std::int64_t>(1, divide_up(rows, threads)), threads, 0, 80, candidate->run_s};
  return SXT_OK;
}

const sxt_kernel kernel = [] {
  sxt_kernel k = plain_kernel<Ell>("ELL, a thread a row");
  k.flags |= SXT_KERNEL_ONE_ORDER;
  k.storages = storages;
  k.features = features;
  k.applicable = applicable;
  k.candidates = candidates;
  k.prepare = prepare;
  k.launch_config = launch_config;
  return k;
}();

}  // namespace
}  // namespace sextant::spmv_ell_cuda

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  return sextant::plugin::offer<&sextant::spmv_ell_cuda::kernel>("spmv-ell-cuda", out);
}
