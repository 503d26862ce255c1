// SPDX-License-Identifier: BSD-3-Clause
// reduction.interleaved.cuda, the first of the step-by-step variants: neighbours at distance 1, 2, 4, ... are added by
// the threads whose index is a multiple of twice that. Half of every warp idles from the first level on and each level
// costs a modulo: kept to show why.
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
    if (t % (2 * distance) == 0) shared[t] = Op::merge(shared[t], shared[t + distance]);
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
  sxt_kernel k = new_step_reduction<Kernel>("reduction.interleaved.cuda",
                                            "tree over neighbours, threads chosen by a modulo (first variant)");
  k.candidates = candidates;
  return k;
}();

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  static const sxt_kernel *const kernels[] = {&kernel};
  static const sxt_plugin plugin = describe("reduction-cuda-interleaved", kernels);
  return *out = &plugin, SXT_OK;
}
