// SPDX-License-Identifier: BSD-3-Clause
// reduction.cluster.cuda: one thread-block cluster of 8 or 16 blocks; the warps' partial results are combined in the
// first block's shared memory (plugins/reduction/shared/cuda/cluster.hpp), at a fraction of a round trip through the
// last cache. Bound by latency, for 2^13 .. 2^17 elements: too much for one block, too little for the whole device.
#include "plugins/reduction/shared/cuda/cluster.hpp"
#include "plugins/reduction/shared/cuda/gather.hpp"
#include "plugins/reduction/shared/cuda/reduce_run.hpp"
#include "sextant/sdk/cuda/generation.hpp"
#include "sextant/sdk/describe.hpp"

namespace {

using namespace sextant::plugin;
using namespace sextant::plugin::cuda;

constexpr int flight = 4, most_warps = 16 * 512 / 32;
constexpr std::int64_t largest_n = 1 << 20;

template <class Op>
__global__ void __launch_bounds__(512)
    reduce(std::int64_t n, const typename Op::Value *x, const typename Op::Value *y, typename Op::Out *out) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  using Acc = typename Op::Acc;
  __shared__ ClusterRoom<Acc, most_warps> room;
  const std::int64_t worker = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const std::int64_t workers = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  announce<Op, flight>(n, x, y);
  open_cluster(room);
  await_predecessor();
  release_successor();
  Acc acc = merge_warp<Op>(accumulate<Op, flight>(n, x, y, worker, workers));
  if (merge_cluster<Op>(acc, room)) *out = Op::result(acc);
#endif
}

template <class Op>
struct Kernel {
  // Clusters above 8 blocks have to be allowed.
  static sxt_status load(const sxt_exec *exec) {
    const sxt_status status = cuda::load(exec, reduce<Op>);
    if (status != SXT_OK) return status;
    return check(exec, cudaFuncSetAttribute(reduce<Op>, cudaFuncAttributeNonPortableClusterSizeAllowed, 1),
                 "allow clusters of 16 blocks");
  }
  static sxt_status launch(const Work<Op> &work, const sxt_exec *exec) {
    const auto blocks = static_cast<unsigned>(work.blocks);
    return launch_chained(exec, "reduction.cluster.cuda", reduce<Op>,
                          Launch{true, blocks, static_cast<unsigned>(work.threads), blocks}, work.n, work.x, work.y,
                          work.out);
  }
};

sxt_status applicable(const sxt_query *query, const sxt_features *features, const sxt_machine *machine,
                      sxt_message *reason) {
  const auto &q = as<sxt_reduction_query>(query);
  if (machine->blocks_per_cluster < 8) return refuse(reason, "the device has no clusters of 8 blocks");
  if (q.n > largest_n)
    return refuse(reason, "n = %lld is more than one cluster should read (%lld)", (long long)q.n, (long long)largest_n);
  if (const sxt_status status = needs_own_code(*machine, reason); status != SXT_OK) return status;
  return plain_applicable(query, features, machine, reason);
}

sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  CandidateList list(out, capacity, count);
  std::uint32_t place = 0;
  for (std::int64_t blocks : {8, 16})
    for (std::int64_t threads : {256, 512})
      if (blocks <= machine->blocks_per_cluster)
        fill_reduction(list.add(), as<sxt_reduction_query>(query), *machine, {place++, blocks, threads, flight},
                       merge_by_cluster, 1, may_start_early(*machine));
  return SXT_OK;
}

const sxt_kernel kernel = [] {
  sxt_kernel k = new_plain_reduction<Kernel>("reduction.cluster.cuda",
                                             "one cluster, partial results in distributed shared memory");
  k.version = 3;
  k.min_level = 90;
  k.applicable = applicable;
  k.candidates = candidates;
  return k;
}();

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  return offer<&kernel>("reduction-cuda-cluster", out);
}
