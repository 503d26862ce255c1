// SPDX-License-Identifier: BSD-3-Clause
// reduction.strided.cuda, the second of the step-by-step variants: the same pairs as the first, but given to
// consecutive threads by a multiplication, so that warps stay whole. What is left: threads of a warp meet in few banks
// of shared memory.
#include "sextant/plugin_cuda_reduce_steps.hpp"

namespace {

using namespace sextant::plugin;
using namespace sextant::plugin::cuda;

template <class Op, class From>
__global__ void __launch_bounds__(512) reduce(Pass<Op, From> pass) {
  using Acc = typename Op::Acc;
  extern __shared__ double2 room[];
  Acc *shared = reinterpret_cast<Acc *>(room);
  const unsigned t = threadIdx.x;
  shared[t] = pass.load(static_cast<std::int64_t>(blockIdx.x) * blockDim.x + t);
  __syncthreads();
  for (unsigned distance = 1; distance < blockDim.x; distance *= 2) {
    const unsigned at = 2 * distance * t;
    if (at < blockDim.x) shared[at] = Op::merge(shared[at], shared[at + distance]);
    __syncthreads();
  }
  if (t == 0) pass.store(shared[0]);
}

template <class Op, class From>
struct Step {
  static std::int64_t elements_per_block(std::int64_t, std::int64_t threads) { return threads; }
  static sxt_status load(const sxt_exec *exec) { return cuda::load(exec, reduce<Op, From>); }
  static void launch(const Pass<Op, From> &pass, unsigned blocks, unsigned threads, cudaStream_t stream) {
    reduce<Op, From><<<blocks, threads, threads * sizeof(typename Op::Acc), stream>>>(pass);
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
  sxt_kernel k = new_step_reduction<Kernel>("reduction.strided.cuda",
                                            "tree over neighbours, consecutive threads (second variant)");
  k.candidates = candidates;
  return k;
}();

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  static const sxt_kernel *const kernels[] = {&kernel};
  static const sxt_plugin plugin = describe("reduction-cuda-strided", kernels);
  return *out = &plugin, SXT_OK;
}
