// SPDX-License-Identifier: BSD-3-Clause
// y = alpha A x + beta y with G threads a row, G = 1 .. 32 (Bell and Garland, SC 2009): G = 1 is the scalar kernel.
// Each thread keeps several entries in flight; x is gathered through the L1 cache, which A bypasses. Bytes: value + 4
// an entry, an offset and y a row, and the sectors of x that the caches fetch. Bound: bandwidth for rows of at least G
// entries; the sectors of x where rows jump.
#pragma once

#include <cstdint>
#include <type_traits>

#include "sextant/sdk/cuda/chain.hpp"
#include "sextant/sdk/cuda/spmv.hpp"

namespace sextant::spmv_csr_cuda {

namespace cuda = plugin::cuda;

// CSR for a kernel. conjugated: values are taken conjugate.
template <class M, class Offset>
struct Csr {
  std::int64_t rows;
  const Offset *row_ptr;
  const std::int32_t *col;
  const M *values;
  bool conjugated;
};

// A position among the entries, unsigned: a thread's next position may lie beyond the last of 2^31 - 1 entries.
template <class Offset>
using Place = std::make_unsigned_t<Offset>;

// Tile t has rows row[t] .. row[t + 1] - 1 and entries entry[t] .. entry[t + 1] - 1. All rows of a tile but its last
// hold at most a block's capacity together; where the last one does not fit in, the block sums it from memory.
template <class Offset>
struct Tiles {
  const std::int32_t *row;
  const Offset *entry;
  std::int32_t count;
};

// An entry in the type of the vectors.
template <class V, class M>
__device__ __forceinline__ V entry(M value, bool conjugated) {
  const V wide = cuda::convert<V>(value);
  if constexpr (cuda::complex_valued<V>)
    return {wide.re, conjugated ? -wide.im : wide.im};
  else
    return wide;
}

template <class V>
__device__ __forceinline__ V shuffled_xor(V value, int distance) {
  if constexpr (cuda::complex_valued<V>)
    return {__shfl_xor_sync(0xffffffffu, value.re, distance), __shfl_xor_sync(0xffffffffu, value.im, distance)};
  else
    return __shfl_xor_sync(0xffffffffu, value, distance);
}

// The sum over groups of `lanes` adjacent lanes (a power of two up to 32), in each of them. Every lane of the warp
// calls.
template <class V>
__device__ __forceinline__ V sum_of_lanes(V value, int lanes) {
  for (int distance = lanes / 2; distance > 0; distance /= 2) value = cuda::plus(value, shuffled_xor(value, distance));
  return value;
}

// Some consecutive entries of a thread, `step` apart, and the sums they are added to.
template <int flight, class M>
struct Entries {
  std::int32_t col[flight];
  M value[flight];

  template <class Offset>
  __device__ __forceinline__ void load(const Csr<M, Offset> &a, Place<Offset> k, Place<Offset> end, int step) {
#pragma unroll
    for (int f = 0; f < flight; ++f) {
      const bool in = k + f * step < end;
      col[f] = in ? cuda::streamed(a.col + k + f * step) : -1;
      value[f] = in ? cuda::streamed(a.values + k + f * step) : M{};
    }
  }
  template <int R, class V>
  __device__ __forceinline__ void add_to(V (&sum)[R][flight], const cuda::Product<V> &p, bool conjugated) const {
#pragma unroll
    for (int f = 0; f < flight; ++f) {
      if (col[f] < 0) continue;
      const V wide = entry<V>(value[f], conjugated);
#pragma unroll
      for (int r = 0; r < R; ++r)
        if (R == 1 || r < p.n_rhs) sum[r][f] = cuda::multiply_add(wide, p.x[r * p.ldx + col[f]], sum[r][f]);
    }
  }
};

// Up to R columns of x and y at once; G = 0: `lanes` says how many threads a row. A row's sum is formed in `flight`
// parts, which depend only on G. early: begun while the stream's predecessor ends; constant data are read before it has
// ended (sdk/cuda/chain.hpp); that costs each warp some cycles, so large grids do without.
template <int G, int R, int flight, class V, class M, class Offset>
__global__ void __launch_bounds__(256) rows_kernel(Csr<M, Offset> a, cuda::Product<V> p, int lanes, bool early) {
  if constexpr (G > 0) lanes = G;
  const std::int64_t i = (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) / lanes;
  const int lane = static_cast<int>(threadIdx.x) & (lanes - 1);
  const bool mine = i < a.rows;
  Place<Offset> k = mine ? a.row_ptr[i] + Place<Offset>(lane) : 0;
  const Place<Offset> end = mine ? a.row_ptr[i + 1] : 0;
  Entries<flight, M> entries;
  entries.load(a, k, end, lanes);
  if (early) {
    cuda::await_predecessor();
    cuda::release_successor();
  }
  V sum[R][flight]{};
  while (k < end) {
    entries.add_to(sum, p, a.conjugated);
    k += flight * lanes;
    if (k < end) entries.load(a, k, end, lanes);
  }
#pragma unroll
  for (int r = 0; r < R; ++r) {
#pragma unroll
    for (int half = flight / 2; half > 0; half /= 2)
#pragma unroll
      for (int f = 0; f < half; ++f) sum[r][f] = cuda::plus(sum[r][f], sum[r][f + half]);
    const V total = sum_of_lanes(sum[r][0], lanes);
    if (lane == 0 && mine && (R == 1 || r < p.n_rhs)) cuda::store(p.y + r * p.ldy + i, total, p.alpha(), p.beta());
  }
}

}  // namespace sextant::spmv_csr_cuda
