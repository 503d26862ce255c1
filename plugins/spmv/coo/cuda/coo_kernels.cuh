// SPDX-License-Identifier: BSD-3-Clause
// y += alpha op(A) x on coordinates, an atomic addition an entry: 16 bytes, a gather and an atomic an entry (f64), 2
// flops. Bound: the atomics.
#pragma once

#include "sextant/sdk/cuda/memory.hpp"
#include "sextant/sdk/cuda/spmv.hpp"

namespace sextant::spmv_coo_cuda {

using namespace plugin::cuda;

template <class M>
struct Entries {
  const std::int32_t *row, *col;
  const M *values;
  std::int64_t nnz;
};

// y was scaled by beta before.
template <class V, class M, int R>
__global__ void __launch_bounds__(256) coo_atomic(Entries<M> a, Product<V> p, bool transposed, bool conjugate) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  const V alpha = p.alpha();
  for (std::int64_t k = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; k < a.nnz; k += stride) {
    const std::int32_t i = streamed(a.row + k), j = streamed(a.col + k);
    const V value = convert<V>(streamed(a.values + k)), factor = times(alpha, conjugate ? conjugated(value) : value);
#pragma unroll
    for (int r = 0; r < R; ++r)
      if (r < p.n_rhs)
        add_atomically(p.y + r * p.ldy + (transposed ? j : i), times(factor, p.x[r * p.ldx + (transposed ? i : j)]));
  }
}

}  // namespace sextant::spmv_coo_cuda
