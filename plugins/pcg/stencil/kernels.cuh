// SPDX-License-Identifier: BSD-3-Clause
// The launch of an iteration, for one pair of types and every form of stencil; one .cu file a pair, since each takes
// seconds to compile.
#pragma once

#include "evaluate.cuh"
#include "forms.hpp"
#include "kernel.cuh"
#include "sextant/plugin_cuda_chain.hpp"
#include "sextant/plugin_cuda_sums.hpp"

namespace stencil {

namespace cuda = sextant::plugin::cuda;

using Kernel = void (*)(Stencil, Tiling, Vectors, Output, cuda::SumsMeeting);

template <class V, class M, int in_plane, int across>
__global__ void __launch_bounds__(most_threads(across), 1)
    iterate(const __grid_constant__ Stencil a, const __grid_constant__ Tiling tiling, const __grid_constant__ Vectors v,
            const __grid_constant__ Output out, const __grid_constant__ cuda::SumsMeeting meeting) {
#ifndef SXT_NO_PACKETS
  extern __shared__ __align__(128) unsigned char shared[];
  __shared__ Barrier barriers[most_stages];
  __shared__ cuda::SumsRoom<double> room;
  Walk<V, M, in_plane, across> walk(a, tiling, v, shared, barriers);
  walk.prepare();
  cuda::await_predecessor();
  cuda::release_successor();
  const Control &c = *out.control;
  if (c.ended != running) return;  // stands still until the host has looked
  const cuda::Word epoch = cuda::next_epoch(meeting.epoch);
  double sum[cuda::sums_at_once] = {}, total = 0;
  walk.run({static_cast<V>(c.alpha), static_cast<V>(c.beta), c.begin, c.from, static_cast<V *>(c.x),
            a.all->constant != 0, static_cast<V>(a.all->value)},
           sum);
  if (!cuda::add_grid(sum, room, meeting, epoch, cuda::sums_at_once, &total)) return;
  // Lane 8 k of one warp holds sum k.
  double v4[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) v4[k] = __shfl_sync(0xffffffffu, total, 8 * k);
  if (threadIdx.x == 0) evaluate(v4, limits_of<V>(), out);
#endif
}

// NULL: no such form.
template <class V, class M>
Kernel kernel_of(const Form &form) {
  if (form.in_plane == 1 && form.across == 1) return iterate<V, M, 1, 1>;
  if (form.in_plane == 1 && form.across == 3) return iterate<V, M, 1, 3>;
  if (form.in_plane == 2 && form.across == 1) return iterate<V, M, 2, 1>;
  if (form.in_plane == 4 && form.across == 9) return iterate<V, M, 4, 9>;
  return nullptr;
}

Kernel f64_kernel(const Form &form);
Kernel f64_over_f32_kernel(const Form &form);
Kernel f32_kernel(const Form &form);

}  // namespace stencil
