// SPDX-License-Identifier: BSD-3-Clause
// reduction.interleaved.cuda, the first of the step-by-step variants: neighbours at distance 1, 2, 4, ... are added by
// the threads whose index is a multiple of twice that. Half of every warp idles from the first level on and each level
// costs a modulo: kept to show why.
#include "plugins/reduction/shared/cuda/reduce_steps.hpp"
#include "sextant/sdk/describe.hpp"

namespace {

using namespace sextant::plugin;
using namespace sextant::plugin::cuda;

struct Neighbours {
  template <class Op>
  static __device__ void merge(typename Op::Acc *shared) {
    for (unsigned distance = 1; distance < blockDim.x; distance *= 2) {
      if (threadIdx.x % (2 * distance) == 0)
        shared[threadIdx.x] = Op::merge(shared[threadIdx.x], shared[threadIdx.x + distance]);
      __syncthreads();
    }
  }
};

const sxt_kernel kernel = TreeSteps<Neighbours>::kernel(
    "reduction.interleaved.cuda", "tree over neighbours, threads chosen by a modulo (first variant)");

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  return offer<&kernel>("reduction-cuda-interleaved", out);
}
