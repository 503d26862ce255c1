// SPDX-License-Identifier: BSD-3-Clause
// reduction.strided.cuda, the second of the step-by-step variants: the same pairs as the first, but given to
// consecutive threads by a multiplication, so that warps stay whole. Remaining cost: bank conflicts of a warp's
// threads.
#include "plugins/reduction/shared/cuda/reduce_steps.hpp"
#include "sextant/sdk/describe.hpp"

namespace {

using namespace sextant::plugin;
using namespace sextant::plugin::cuda;

struct Strided {
  template <class Op>
  static __device__ void merge(typename Op::Acc *shared) {
    for (unsigned distance = 1; distance < blockDim.x; distance *= 2) {
      const unsigned at = 2 * distance * threadIdx.x;
      if (at < blockDim.x) shared[at] = Op::merge(shared[at], shared[at + distance]);
      __syncthreads();
    }
  }
};

const sxt_kernel kernel =
    TreeSteps<Strided>::kernel("reduction.strided.cuda", "tree over neighbours, consecutive threads (second variant)");

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  return offer<&kernel>("reduction-cuda-strided", out);
}
