// SPDX-License-Identifier: BSD-3-Clause
// The launch of iterations, for one pair of types and every form of stencil; one .cu file a pair, since each takes
// seconds to compile.
#pragma once

#include "evaluate.cuh"
#include "exchange.cuh"
#include "forms.hpp"
#include "kernel.cuh"

namespace stencil {

using Kernel = void (*)(Stencil, Tiling, Vectors, Output, cuda::SumsExchange, int);

// At most `count` iterations. All blocks must be resident: there is a barrier after each.
template <class V, class M, int in_plane, int across>
__global__ void __launch_bounds__(most_threads(across), 1)
    iterate(const __grid_constant__ Stencil a, const __grid_constant__ Tiling tiling, const __grid_constant__ Vectors v,
            const __grid_constant__ Output out, const __grid_constant__ cuda::SumsExchange exchange, int count) {
#ifndef SXT_NO_PACKETS
  extern __shared__ __align__(128) unsigned char shared[];
  __shared__ Barrier barriers[most_stages];
  __shared__ cuda::SumsRoom<double> room;
  __shared__ Control c;  // every block has its own copy, all with the same bits
  if (out.control->ended != pcg::Ended::running) return;
  const V main = static_cast<V>(a.all->value);
  const bool constant = a.all->constant != 0;
  cuda::Word epoch = *exchange.epoch;
  if (threadIdx.x == 0) c = *out.control;
  Walk<V, M, in_plane, across> walk(a, tiling, v, shared, barriers);
  walk.prepare();
  for (int k = 0; k < count && c.ended == pcg::Ended::running; ++k) {
    double sum[cuda::sums_at_once] = {};
    walk.run({static_cast<V>(c.alpha), static_cast<V>(c.beta), static_cast<V>(c.deferred), c.leaves_x != 0, c.begin,
              c.from, static_cast<V *>(c.x), constant, main},
             sum);
    ++epoch;
    send_sums(sum, room, exchange, epoch);
    const double total = receive_sums(room, exchange, epoch);
    if (threadIdx.x < 32) {
      double v4[cuda::sums_at_once];
#pragma unroll
      for (int j = 0; j < cuda::sums_at_once; ++j) v4[j] = __shfl_sync(0xffffffffu, total, 8 * j);
      if (threadIdx.x == 0) {
        evaluate(v4, pcg::limits_of<V>(), c);
        if (blockIdx.x == 0) out.squared_residuals[c.k % out.room] = v4[3];
        order_bulk_copies();
      }
    }
    __syncthreads();
  }
  if (c.deferred_alpha != 0) walk.settle(static_cast<V>(c.deferred_alpha), static_cast<V *>(c.x), c.from ^ 1);
  if (blockIdx.x > 0 || threadIdx.x > 0) return;
  c.deferred = c.deferred_alpha = 0;
  *out.control = c;
  *out.report = {c.k, c.ended, 0};
  *exchange.epoch = epoch;  // every block has read the old one: it sent a later one
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
