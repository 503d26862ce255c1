// SPDX-License-Identifier: BSD-3-Clause
// spmv_dots.csr.adaptive.cuda: y = alpha A x + beta y and up to four inner products in one pass: the tiles of
// csr_adaptive.cuh, each new element of y being multiplied while it is still in a register. Blocks store their sums,
// and the block that ends last adds them in the order of blocks: equal bits for an equal grid. Bytes: the product's,
// and a read of each further vector.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "csr_adaptive.cuh"
#include "csr_state.cuh"
#include "sextant/plugin/kinds/spmv_dots.h"
#include "sextant/sdk/cuda/dense.hpp"
#include "sextant/sdk/cuda/grid.hpp"
#include "sextant/sdk/describe.hpp"

namespace sextant::spmv_csr_cuda {

using namespace plugin;

namespace {

constexpr int most_dots = 4;

template <class V>
struct Pairs {
  const V *u[most_dots], *v[most_dots];  // NULL: the new y
  int count;
};

// The sums of a thread, a block and the grid.
template <class V>
struct DotSums {
  V sum[most_dots];
};
template <class V>
struct AddDots {
  using Acc = DotSums<V>;
  __device__ static Acc identity() { return {}; }
  __device__ static Acc merge(Acc a, Acc b) {
#pragma unroll
    for (int d = 0; d < most_dots; ++d) a.sum[d] = cuda::plus(a.sum[d], b.sum[d]);
    return a;
  }
};

// Memory that runs of one caller write beside y and the products; the counter is zero between runs.
struct Session {
  cuda::DeviceArray partials, counter;
};

template <int items, class V, class M, class Offset>
__global__ void __launch_bounds__(most_threads)
    adaptive_dots(Csr<M, Offset> a, cuda::Product<V> p, Tiles<Offset> tiles, Pairs<V> pairs, V *dots,
                  DotSums<V> *partials, unsigned *counter) {
  extern __shared__ __align__(16) unsigned char shared[];
  __shared__ V partial[few_rows * most_warps];
  __shared__ DotSums<V> warp_sums[32];
  const Tile<Offset> tile = tile_at(tiles, blockIdx.x);
  Share<items, M> share;
  std::int32_t bound[bounds_a_thread];
  load_tile(a, tile, share, bound);
  cuda::await_predecessor();
  cuda::release_successor();
  const V alpha = p.alpha(), beta = p.beta();
  DotSums<V> acc{};
  multiply_tiles<items, false>(a, p.x, tiles, share, bound, tile, shared, partial, [&](std::int32_t i, V sum) {
    V y = cuda::times(alpha, sum);
    if (!cuda::is_zero(beta)) y = cuda::multiply_add(beta, p.y[i], y);
    p.y[i] = y;
#pragma unroll
    for (int d = 0; d < most_dots; ++d) {
      if (d >= pairs.count) break;
      const V u = pairs.u[d] ? pairs.u[d][i] : y, v = pairs.v[d] ? pairs.v[d][i] : y;
      acc.sum[d] = cuda::multiply_add(cuda::conjugated(u), v, acc.sum[d]);
    }
  });
  __syncthreads();
  acc = cuda::merge_block<AddDots<V>>(acc, warp_sums);
  __syncthreads();
  if (cuda::merge_grid_by_ticket<AddDots<V>>(acc, warp_sums, partials, counter))
    for (int d = 0; d < pairs.count; ++d) dots[d] = acc.sum[d];
}

template <class V>
__global__ void no_dots(V *dots, int count) {
  cuda::await_predecessor();
  if (static_cast<int>(threadIdx.x) < count) dots[threadIdx.x] = V{};
}

sxt_status dots_applicable(const sxt_query *query, const sxt_features *found, const sxt_machine *machine,
                           sxt_message *reason) {
  const auto &q = as<sxt_spmv_dots_query>(query);
  if (q.n_dots > most_dots) return refuse(reason, "%d inner products, at most %d are offered", q.n_dots, most_dots);
  if (q.m.n_rhs != 1) return refuse(reason, "%d right-hand sides, only one is offered", q.m.n_rhs);
  return applicable(query, found, machine, reason);
}

// Vectors read beside x and y, and the combination of the blocks' sums at the end.
void add_dots(const sxt_spmv_query &query, cuda::SpmvCost &cost) {
  const auto &q = as<sxt_spmv_dots_query>(&query.m.q);
  cost.extra_bytes += static_cast<double>(q.n_dots) * static_cast<double>(q.m.m.rows) *
                      static_cast<double>(value_bytes(q.m.m.q.value_type));
  cost.launches += 0.5;
}

sxt_status dots_candidates(const sxt_query *query, const sxt_features *found, const sxt_machine *machine,
                           const sxt_filled *, sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  CandidateList list(out, capacity, count);
  return add_shapes(list, as<sxt_spmv_query>(query), found, *machine, add_dots), SXT_OK;
}

// f(kernel, V's tag) of the state's types.
template <class F>
sxt_status with_kernel(const State &state, F &&f) {
  return with_csr(state, [&](const auto &a, auto v) -> sxt_status {
    using V = typename decltype(v)::type;
    using Offset = std::remove_cvref_t<decltype(*a.row_ptr)>;
    using M = std::remove_cvref_t<decltype(*a.values)>;
    if (state.width == 8) return f(adaptive_dots<8, V, M, Offset>, a, v);
    return f(adaptive_dots<4, V, M, Offset>, a, v);
  });
}

std::uint64_t shared_of(const State &state) {
  return shared_bytes(state.width, state.threads, false, value_bytes(state.type));
}

sxt_status dots_prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *,
                        const sxt_exec *exec, void **out) {
  return cuda::build<State>(exec, out, [&](State &state) -> sxt_status {
    state.width = 4;
    begin(state, *problem, candidate, exec);
    if (state.width != 8) state.width = 4;
    cut_tiles(state, exec);
    return with_kernel(state, [&](auto kernel, const auto &, auto v) -> sxt_status {
      using V = typename decltype(v)::type;
      if (const sxt_status status = cuda::load_with_shared(exec, kernel, shared_of(state))) return status;
      state.blocks = resident_blocks(kernel, state.threads, shared_of(state), state.tiles);
      return cuda::load(exec, no_dots<V>);
    });
  });
}

sxt_status open(const void *opaque, const sxt_filled *, const sxt_exec *exec, void **out) {
  const auto &state = *static_cast<const State *>(opaque);
  return cuda::build<Session>(exec, out, [&](Session &session) -> sxt_status {
    session.partials = cuda::DeviceArray(exec, state.blocks * most_dots * value_bytes(state.type), "partial products");
    session.counter = cuda::DeviceArray(exec, sizeof(unsigned), "a counter");
    cuda::fill_bytes(exec, session.counter.data(), 0, sizeof(unsigned), "clear a counter");
    return SXT_OK;
  });
}

template <class V>
Pairs<V> pairs_of(const sxt_spmv_dots_args &args) {
  Pairs<V> pairs{{}, {}, args.n_dots};
  for (int d = 0; d < args.n_dots; ++d) {
    pairs.u[d] = static_cast<const V *>(args.u[d]);
    pairs.v[d] = static_cast<const V *>(args.v[d]);
  }
  return pairs;
}

sxt_status dots_run(const void *opaque, void *opened, const sxt_head *head, const sxt_exec *exec) {
  const auto &state = *static_cast<const State *>(opaque);
  const auto &args = as<sxt_spmv_dots_args>(head);
  if (const sxt_status status = check_args(state, args.m, exec); status != SXT_OK) return status;
  if (args.n_dots < 0 || args.n_dots > most_dots)
    return error(exec, SXT_E_ARGUMENT, "%d inner products, at most %d are offered", args.n_dots, most_dots);
  const auto &session = *static_cast<const Session *>(opened);
  const char *what = "spmv_dots.csr.adaptive.cuda";
  return with_kernel(state, [&](auto kernel, const auto &a, auto v) -> sxt_status {
    using V = typename decltype(v)::type;
    using Offset = std::remove_cvref_t<decltype(*a.row_ptr)>;
    V *dots = static_cast<V *>(args.dots);
    if (state.tiles == 0)
      return cuda::launch_chained(exec, state.early, what, no_dots<V>, 1, most_dots, 0, dots, args.n_dots);
    return cuda::launch_chained(exec, state.early, what, kernel, state.blocks, state.threads, shared_of(state), a,
                                cuda::product_of<V>(args.m), tiles_of<Offset>(state), pairs_of<V>(args), dots,
                                session.partials.template as<DotSums<V>>(), session.counter.template as<unsigned>());
  });
}

}  // namespace

const sxt_kernel adaptive_dots_kernel = [] {
  sxt_kernel k = new_kernel(SXT_KIND_SPMV_DOTS, "spmv_dots.csr.adaptive.cuda", "cuda",
                            "CSR, tiles of whole rows, inner products with the new y in the same pass", dots_run);
  k.flags = SXT_KERNEL_DETERMINISTIC | SXT_KERNEL_CAPTURABLE;
  k.storages = storages;
  k.features = features;
  k.term_names = spmv_terms;
  k.term_defaults = spmv_term_defaults;
  set_calls<State>(k, {dots_applicable, dots_candidates, dots_prepare, refresh});
  k.open = open;
  k.close = destroy<Session>;
  return k;
}();

}  // namespace sextant::spmv_csr_cuda
