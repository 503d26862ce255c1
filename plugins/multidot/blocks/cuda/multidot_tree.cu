// SPDX-License-Identifier: BSD-3-Clause
// multidot.tree.cuda: up to eight inner products by the library's one summation tree (sdk/tree.hpp), the same bits
// as multidot.tree.cpu on the same numbers. A warp adds a leaf of 1024 terms for all pairs; the block that ends last
// adds the leaves in adjacent pairs. Bound as the others: n x size bytes a distinct array, then the leaves' sums once
// more.
#include <algorithm>
#include <cmath>
#include <type_traits>

#include "multidot.cuh"
#include "sextant/plugin/order.h"
#include "sextant/sdk/cuda/order.hpp"
#include "sextant/sdk/describe.hpp"

namespace sextant::multidot_cuda {
namespace {

constexpr int leaves_a_block = 2;  // whose sums fit the room that sessions have for a block
constexpr int threads = leaves_a_block * tree::lanes;
constexpr int depth = 16;  // levels of the tree that one thread adds
static_assert(leaves_a_block * SXT_MULTIDOT_MAX * 16 <= bytes_a_block);

// Leaf `leaf` of every pair, in lane 0.
template <class V, int N>
__device__ Sums<V, N> sum_leaf(std::int64_t n, const Pairs<V, N> &pairs, std::int64_t leaf, int lane) {
  constexpr int rows = tree::leaf_size / tree::lanes, flight = N * sizeof(V) > 64 ? 4 : 8;
  Sums<V, N> acc{};
  const std::int64_t first = leaf * tree::leaf_size + lane;
  if (n - first > (rows - 1) * tree::lanes) {
    // Several rows in flight at once; each lane adds its terms in their order.
    for (int row = 0; row < rows; row += flight) {
      V term[flight][N];
#pragma unroll
      for (int f = 0; f < flight; ++f)
#pragma unroll
        for (int k = 0; k < N; ++k) {
          const std::int64_t i = first + (row + f) * tree::lanes;
          term[f][k] = order::term(pairs.u[k][i], pairs.v[k][i]);
        }
#pragma unroll
      for (int f = 0; f < flight; ++f)
#pragma unroll
        for (int k = 0; k < N; ++k) acc.sum[k] = plus(acc.sum[k], term[f][k]);
    }
  } else {
    for (std::int64_t i = first; i < n; i += tree::lanes)
#pragma unroll
      for (int k = 0; k < N; ++k) acc.sum[k] = plus(acc.sum[k], order::term(pairs.u[k][i], pairs.v[k][i]));
  }
  __syncwarp();
#pragma unroll
  for (int k = 0; k < N; ++k) acc.sum[k] = order::fold_lanes(acc.sum[k]);
  return acc;
}

template <class V, int N>
__global__ void __launch_bounds__(threads)
    tree_dots(std::int64_t n, std::int64_t leaves, Pairs<V, N> pairs, V *sums, unsigned *counter, V *result) {
  await_predecessor();
  release_successor();
  __shared__ alignas(16) unsigned char space[threads * sizeof(V)];
  __shared__ bool last;
  const int lane = threadIdx.x % tree::lanes;
  const std::int64_t leaf = static_cast<std::int64_t>(blockIdx.x) * leaves_a_block + threadIdx.x / tree::lanes;
  if (leaf < leaves) {
    const Sums<V, N> acc = sum_leaf<V, N>(n, pairs, leaf, lane);
    if (lane == 0)
      for (int k = 0; k < N; ++k) sums[k * leaves + leaf] = acc.sum[k];
  }
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicInc(counter, gridDim.x - 1) == gridDim.x - 1;
  __syncthreads();
  if (!last) return;
  __threadfence();
  for (int k = 0; k < N; ++k) {
    const V total =
        order::combine_by_block<V, depth>(leaves, static_cast<int>(threadIdx.x), threads, reinterpret_cast<V *>(space),
                                          [&](std::int64_t j) -> V { return sums[k * leaves + j]; });
    if (threadIdx.x == 0) result[k] = total;
    __syncthreads();
  }
}

std::int64_t blocks_of(std::int64_t n) {
  const std::int64_t leaves = tree::leaf_count(n);
  return std::max<std::int64_t>(1, (leaves + leaves_a_block - 1) / leaves_a_block);
}

struct Tree {
  template <class V, int N>
  static sxt_status ready(const sxt_exec *exec) {
    return load(exec, tree_dots<V, N>);
  }
  template <class V, int N>
  static sxt_status launch(const Call<V, N> &call, const sxt_exec *exec) {
    const std::int64_t blocks = blocks_of(call.n);
    if (blocks > call.grid.blocks)
      return error(exec, SXT_E_DIMENSION, "n = %lld, but room was made for %lld elements", (long long)call.n,
                   (long long)(call.grid.blocks * leaves_a_block * tree::leaf_size));
    return launch_chained(exec, true, "multidot.tree.cuda", tree_dots<V, N>, static_cast<unsigned>(blocks), threads, 0,
                          call.n, tree::leaf_count(call.n), call.pairs, static_cast<V *>(call.partials),
                          static_cast<unsigned *>(call.counter), call.result);
  }
};

sxt_status tree_applicable(const sxt_query *query, const sxt_features *features, const sxt_machine *machine,
                           sxt_message *reason) {
  constexpr std::int64_t most = (std::int64_t{threads} << depth) * tree::leaf_size;
  const std::int64_t n = as<sxt_multidot_query>(query).n;
  if (n > most) return refuse(reason, "n = %lld, at most %lld is offered", (long long)n, (long long)most);
  return count_applicable(query, features, machine, reason);
}

// The terms of the others; a block has two leaves, and one block reads all their sums.
sxt_status tree_candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                           sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  const auto &q = as<sxt_multidot_query>(query);
  const double size = static_cast<double>(value_bytes(q.q.value_type)), n = static_cast<double>(q.n);
  const std::int64_t blocks = blocks_of(q.n), units = std::max(1, machine->units);
  constexpr double warps_at_once = 64, flights_a_leaf = 4;
  const double rounds = std::ceil(static_cast<double>(blocks) * leaves_a_block / (warps_at_once * units));
  CandidateList list(out, capacity, count);
  sxt_candidate &candidate = list.add();
  candidate.launch[0] = blocks;
  candidate.launch[1] = threads;
  candidate.model_class = static_cast<std::uint32_t>(q.n_dots);
  candidate.n_terms = 5;
  candidate.terms[0] = 1;
  candidate.terms[1] = flights_a_leaf * rounds;
  // The last block's few threads wait for each of their sums: 0.14 to 0.16 us each on one H200, not the nanosecond that
  // it takes where all threads of a block add.
  constexpr double waits = 150;
  candidate.terms[2] = 1200.0 + waits * static_cast<double>(blocks) * leaves_a_block * q.n_dots / threads;
  candidate.terms[3] = candidate.working_set_bytes = n * size * q.distinct;
  candidate.terms[4] = n * q.n_dots * (q.q.value_type == SXT_C64 || q.q.value_type == SXT_C128 ? 8 : 2);
  candidate.units = static_cast<double>(std::min(blocks, units));
  candidate.state_bytes = sizeof(State);
  return SXT_OK;
}

}  // namespace

const sxt_kernel by_tree = [] {
  sxt_kernel k =
      new_kernel(SXT_KIND_MULTIDOT, "multidot.tree.cuda", "cuda",
                 "a warp a leaf of 1024 terms, leaves in adjacent pairs: the order of deterministic mode", run<Tree>);
  k.version = 2;
  k.flags = SXT_KERNEL_DETERMINISTIC | SXT_KERNEL_CAPTURABLE | SXT_KERNEL_ONE_ORDER;
  k.term_names = terms;
  k.term_defaults = defaults;
  set_calls<State>(k, {tree_applicable, tree_candidates, prepare});
  k.open = open_session<Tree>;
  k.close = destroy<Session>;
  return k;
}();

}  // namespace sextant::multidot_cuda
