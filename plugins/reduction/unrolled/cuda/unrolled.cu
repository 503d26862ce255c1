// SPDX-License-Identifier: BSD-3-Clause
// reduction.unrolled.cuda, the fourth of the step-by-step variants: the block size is a constant, so the tree unrolls
// completely, and the last warp needs no barriers. Remaining cost: one element a thread means n / 32 warps that mostly
// wait.
#include "plugins/reduction/shared/cuda/reduce_steps.hpp"
#include "sextant/sdk/describe.hpp"

namespace {

using namespace sextant::plugin;
using namespace sextant::plugin::cuda;

template <class Op, class From, int block>
__global__ void __launch_bounds__(block) reduce(Pass<Op, From> pass) {
  using Acc = typename Op::Acc;
  __shared__ alignas(16) unsigned char room[block * sizeof(Acc)];
  Acc *shared = reinterpret_cast<Acc *>(room);
  const std::int64_t worker = static_cast<std::int64_t>(blockIdx.x) * block + threadIdx.x;
  shared[threadIdx.x] = pass.load(worker);
  const Acc sum = merge_unrolled<Op, block>(shared);
  if (threadIdx.x == 0) pass.store(sum);
}

template <class Op, class From>
struct Step {
  static std::int64_t elements_per_block(std::int64_t, std::int64_t threads) { return threads; }
  static sxt_status load(const sxt_exec *exec) {
    return load_block_sizes(exec, [](auto block) { return reduce<Op, From, decltype(block)::value>; });
  }
  static void launch(const Pass<Op, From> &pass, unsigned blocks, unsigned threads, cudaStream_t stream) {
    with_block_size(threads,
                    [&](auto block) { reduce<Op, From, block><<<blocks, decltype(block)::value, 0, stream>>>(pass); });
  }
};

template <class Op>
using Kernel = Steps<Step, Op>;

sxt_status candidates(const sxt_query *query, const sxt_features *, const sxt_machine *machine, const sxt_filled *,
                      sxt_candidate *out, std::uint64_t capacity, std::uint64_t *count) {
  return step_candidates(query, machine, out, capacity, count,
                         [](std::int64_t, std::int64_t threads) { return threads; });
}

const sxt_kernel kernel = [] {
  sxt_kernel k = new_step_reduction<Kernel>("reduction.unrolled.cuda",
                                            "tree unrolled, last warp without barriers (fourth variant)");
  k.candidates = candidates;
  return k;
}();

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  return offer<&kernel>("reduction-cuda-unrolled", out);
}
