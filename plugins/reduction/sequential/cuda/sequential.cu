// SPDX-License-Identifier: BSD-3-Clause
// reduction.sequential.cuda, the third of the step-by-step variants: the loop runs in the opposite direction, halves
// are added to halves, and adjacent threads read adjacent words: no bank conflicts. Remaining costs: half of the
// threads only load, and every level waits at a barrier.
#include "plugins/reduction/shared/cuda/reduce_steps.hpp"
#include "sextant/sdk/describe.hpp"

namespace {

using namespace sextant::plugin;
using namespace sextant::plugin::cuda;

struct Halves {
  template <class Op>
  static __device__ void merge(typename Op::Acc *shared) {
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
      if (threadIdx.x < half) shared[threadIdx.x] = Op::merge(shared[threadIdx.x], shared[threadIdx.x + half]);
      __syncthreads();
    }
  }
};

const sxt_kernel kernel =
    TreeSteps<Halves>::kernel("reduction.sequential.cuda", "tree over halves, no bank conflicts (third variant)");

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  return offer<&kernel>("reduction-cuda-sequential", out);
}
