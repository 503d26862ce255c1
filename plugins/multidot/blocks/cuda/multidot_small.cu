// SPDX-License-Identifier: BSD-3-Clause
// multidot.one-block.cuda and multidot.cluster.cuda: up to eight inner products of short vectors. One block needs no
// merging between blocks; one cluster combines the sums of 8 blocks in shared memory, after a cluster barrier that
// costs a fraction of a round trip through the last cache. Bound by latency; bits are equal for equal input.
#include "multidot.cuh"

namespace sextant::multidot_cuda {
namespace {

constexpr int cluster_blocks = 8;
constexpr std::int64_t longest_of_a_block = 1 << 15, longest_of_a_cluster = 1 << 18;

template <class V, int N>
__global__ void __launch_bounds__(512) block_dots(std::int64_t n, Pairs<V, N> pairs, bool aligned, V *result) {
  await_predecessor();
  release_successor();
  using Op = SumsOf<V, N>;
  using Acc = typename Op::Acc;
  __shared__ alignas(16) unsigned char room[32 * sizeof(Acc)];
  const Acc acc = merge_block<Op>(accumulate_pairs<V, N>(n, pairs, aligned, threadIdx.x, blockDim.x),
                                  reinterpret_cast<Acc *>(room));
  if (threadIdx.x == 0)
    for (int k = 0; k < N; ++k) result[k] = acc.sum[k];
}

// The address of another block's copy of what lies at `here`, in the cluster's window.
__device__ inline std::uint32_t in_block(const void *here, std::uint32_t rank) {
  std::uint32_t there = 0;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm("mapa.shared::cluster.u32 %0, %1, %2;"
      : "=r"(there)
      : "r"(static_cast<std::uint32_t>(__cvta_generic_to_shared(here))), "r"(rank));
#endif
  return there;
}

template <class V, int N>
__global__ void __launch_bounds__(512) cluster_dots(std::int64_t n, Pairs<V, N> pairs, bool aligned, V *result) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  using Op = SumsOf<V, N>;
  using Acc = typename Op::Acc;
  constexpr int words = sizeof(Acc) / 4;
  __shared__ alignas(16) unsigned char room[32 * sizeof(Acc)];
  __shared__ alignas(16) std::uint32_t all[cluster_blocks * words];  // the first block's: a row a block
  // Shared memory of another block may be touched once that block has begun; the loads below take longer than that.
  asm volatile("barrier.cluster.arrive.relaxed.aligned;");
  await_predecessor();
  release_successor();
  const std::int64_t worker = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  Acc acc = merge_block<Op>(
      accumulate_pairs<V, N>(n, pairs, aligned, worker, static_cast<std::int64_t>(gridDim.x) * blockDim.x),
      reinterpret_cast<Acc *>(room));
  asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
  if (threadIdx.x == 0) {
    const std::uint32_t row = in_block(all + blockIdx.x * words, 0);
    union {
      Acc acc;
      std::uint32_t word[words];
    } box{acc};
#pragma unroll
    for (int i = 0; i < words; ++i)
      asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(row + 4 * i), "r"(box.word[i]) : "memory");
  }
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
  if (blockIdx.x > 0 || threadIdx.x >= 32) return;
  const Acc *rows = reinterpret_cast<const Acc *>(all);
  acc = merge_warp<Op>(threadIdx.x < cluster_blocks ? rows[threadIdx.x] : Op::identity());
  if (threadIdx.x == 0)
    for (int k = 0; k < N; ++k) result[k] = acc.sum[k];
#endif
}

struct OneBlock {
  template <class V, int N>
  static sxt_status ready(const sxt_exec *exec) {
    return load(exec, block_dots<V, N>);
  }
  template <class V, int N>
  static sxt_status launch(const Call<V, N> &call, const sxt_exec *exec) {
    return launch_chained(exec, true, "multidot.one-block.cuda", block_dots<V, N>, 1,
                          static_cast<unsigned>(call.grid.threads), 0, call.n, call.pairs, call.aligned, call.result);
  }
  static std::vector<Grid> grids(const sxt_machine &) { return {{1, 128}, {1, 256}, {1, 512}}; }
  static double merging(const Grid &, int) { return 0; }
};

struct OneCluster {
  template <class V, int N>
  static sxt_status ready(const sxt_exec *exec) {
    return load(exec, cluster_dots<V, N>);
  }
  template <class V, int N>
  static sxt_status launch(const Call<V, N> &call, const sxt_exec *exec) {
    return launch_chained(exec, "multidot.cluster.cuda", cluster_dots<V, N>,
                          Launch{true, cluster_blocks, static_cast<unsigned>(call.grid.threads), cluster_blocks},
                          call.n, call.pairs, call.aligned, call.result);
  }
  static std::vector<Grid> grids(const sxt_machine &) { return {{cluster_blocks, 256}, {cluster_blocks, 512}}; }
  // Two cluster barriers.
  static double merging(const Grid &, int n_dots) { return 350.0 + cluster_blocks * n_dots; }
};

sxt_status refuse_beyond(const sxt_query *query, std::int64_t longest, sxt_message *reason) {
  const std::int64_t n = as<sxt_multidot_query>(query).n;
  if (n <= longest) return SXT_OK;
  return refuse(reason, "n = %lld is more than it should read (%lld)", (long long)n, (long long)longest);
}

sxt_status block_applicable(const sxt_query *query, const sxt_features *features, const sxt_machine *machine,
                            sxt_message *reason) {
  const sxt_status status = refuse_beyond(query, longest_of_a_block, reason);
  return status == SXT_OK ? count_applicable(query, features, machine, reason) : status;
}

sxt_status cluster_applicable(const sxt_query *query, const sxt_features *features, const sxt_machine *machine,
                              sxt_message *reason) {
  if (machine->blocks_per_cluster < cluster_blocks)
    return refuse(reason, "the device has no clusters of %d blocks", cluster_blocks);
  if (const sxt_status status = needs_own_code(*machine, reason); status != SXT_OK) return status;
  const sxt_status status = refuse_beyond(query, longest_of_a_cluster, reason);
  return status == SXT_OK ? count_applicable(query, features, machine, reason) : status;
}

}  // namespace

const sxt_kernel one_block = [] {
  sxt_kernel k = new_multidot<OneBlock>("multidot.one-block.cuda", "one block reads everything");
  k.applicable = block_applicable;
  return k;
}();

const sxt_kernel one_cluster = [] {
  sxt_kernel k = new_multidot<OneCluster>("multidot.cluster.cuda", "one cluster, sums in distributed shared memory");
  k.min_level = 90;
  k.applicable = cluster_applicable;
  return k;
}();

}  // namespace sextant::multidot_cuda
