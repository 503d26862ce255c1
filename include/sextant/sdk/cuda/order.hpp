// SPDX-License-Identifier: BSD-3-Clause
// The one order of deterministic conjugate gradients (order.h) in device code: the tree of sdk/tree.hpp for warps
// and blocks, and the coefficients that engines compute on a device. Include from .cu files only.
#pragma once

#include <cfloat>
#include <cstdint>

#include "sextant/sdk/cuda/numbers.hpp"
#include "sextant/sdk/tree.hpp"

namespace sextant::plugin::cuda::order {

__device__ inline float rounded_product(float a, float b) { return __fmul_rn(a, b); }
__device__ inline double rounded_product(double a, double b) { return __dmul_rn(a, b); }

// conj(a) b, products rounded before they are added.
template <class V>
__device__ V term(V a, V b) {
  if constexpr (complex_valued<V>)
    return {rounded_product(a.re, b.re) + rounded_product(a.im, b.im),
            rounded_product(a.re, b.im) - rounded_product(a.im, b.re)};
  else
    return rounded_product(a, b);
}

template <class V>
__device__ V from_lane_above(V value, int distance) {
  if constexpr (complex_valued<V>)
    return {__shfl_down_sync(0xffffffffu, value.re, distance), __shfl_down_sync(0xffffffffu, value.im, distance)};
  else
    return __shfl_down_sync(0xffffffffu, value, distance);
}

// The lanes of a leaf, each a lane of one warp; lane 0 gets the leaf. The whole warp calls.
template <class V>
__device__ V fold_lanes(V lane) {
#pragma unroll
  for (int step = tree::lanes / 2; step > 0; step /= 2) lane = plus(lane, from_lane_above(lane, step));
  return lane;
}

// Subtrees that wait for their sibling, one of each level at most; in registers: all indices are known to the compiler.
template <class V, int depth>
struct Subtrees {
  V waiting[depth + 1];
  // Takes in the sum of a subtree of 2^from leaves, `taken` leaves being there already.
  template <int from>
  __device__ void take(std::uint32_t taken, V sum) {
    bool carried = true;
#pragma unroll
    for (int level = from; level <= depth; ++level) {
      if (!carried) continue;
      carried = taken >> level & 1;
      if (carried)
        sum = plus(waiting[level], sum);
      else
        waiting[level] = sum;
    }
  }
  // The sum of `count` leaves: from the smallest subtree to the largest, which is how the last of an odd level moves
  // up.
  __device__ V sum(std::uint32_t count) const {
    V sum{};
    bool any = false;
#pragma unroll
    for (int level = 0; level <= depth; ++level) {
      if (!(count >> level & 1)) continue;
      sum = any ? plus(waiting[level], sum) : waiting[level];
      any = true;
    }
    return sum;
  }
};

// The sum of leaves begin .. end - 1, at most 2^depth, which are a whole subtree of the tree, or its ragged end: at(j)
// is leaf j. Eight are asked for at once, since each may come from the last cache.
template <class V, int depth, class F>
__device__ V combine_leaves(std::int64_t begin, std::int64_t end, F &&at) {
  constexpr int levels = 3, flight = 1 << levels;
  static_assert(depth >= levels);
  Subtrees<V, depth> trees;
  const auto count = static_cast<std::uint32_t>(end - begin);
  std::uint32_t taken = 0;
  for (; taken + flight <= count; taken += flight) {
    V leaf[flight];
#pragma unroll
    for (int k = 0; k < flight; ++k) leaf[k] = at(begin + taken + k);
#pragma unroll
    for (int width = flight / 2; width > 0; width /= 2)
#pragma unroll
      for (int k = 0; k < width; ++k) leaf[k] = plus(leaf[2 * k], leaf[2 * k + 1]);
    trees.template take<levels>(taken, leaf[0]);
  }
  for (; taken < count; ++taken) trees.template take<0>(taken, at(begin + taken));
  return trees.sum(count);
}

// The sum of all leaves by `workers` threads of a block, a power of two of them, worker 0 .. workers - 1; worker 0 gets
// it. At most 2^depth leaves a worker. room: one a worker. All threads of the block call: those that are not workers
// have worker < 0.
template <class V, int depth, class F>
__device__ V combine_by_block(std::int64_t leaves, int worker, int workers, V *room, F &&at) {
  std::int64_t share = 1;
  while (share * workers < leaves) share *= 2;
  std::int64_t count = (leaves + share - 1) / share;
  if (worker >= 0 && worker < count)
    room[worker] =
        share == 1 ? at(worker) : combine_leaves<V, depth>(worker * share, min(leaves, (worker + 1) * share), at);
  // Level by level, as combine() of sdk/tree.hpp.
  for (; count > 1; count = (count + 1) / 2) {
    __syncthreads();
    V sum{};
    const bool pair = worker >= 0 && worker < count / 2, single = worker == count / 2 && count % 2;
    if (pair) sum = plus(room[2 * worker], room[2 * worker + 1]);
    if (single) sum = room[count - 1];
    __syncthreads();
    if (pair || single) room[worker] = sum;
  }
  __syncthreads();
  return leaves > 0 && worker == 0 ? room[0] : V{};
}

// ||r - alpha q||^2 of predict-and-recompute (Chen and Carson 2020) without another pass; 0 where everything cancelled,
// so that no digits are left, or where it is no number: r is then so much shorter than before that p = r will do.
// epsilon: of the vectors' type.
__device__ inline double predicted_square(double gamma, double alpha, double r_q, double q_q, double epsilon) {
  const double next = fma(alpha, fma(alpha, q_q, -2 * r_q), gamma);
  return next > 256 * epsilon * gamma && next <= DBL_MAX ? next : 0;
}

}  // namespace sextant::plugin::cuda::order
