// SPDX-License-Identifier: BSD-3-Clause
// The second half of a solve with one right-hand side right after the factorisation, L^H x = y, by block rows from the
// last one. The first warp solves with diagonal blocks and subtracts the result from the unknowns right above, so that
// one block depends only on the previous one; the other warps do the rest and fetch blocks that have lost their places.
#pragma once

#include "tile_worker.cuh"

namespace sextant::hermitian_tile {

#ifdef __CUDACC__

// Starts to bring block (q, p) of the factor in, by one warp. Adjacent lanes take adjacent addresses; beyond the order
// it is the identity.
template <class T>
__device__ __forceinline__ void copy_block(const dense::System<T> &system, int q, int p, T *block, int lane) {
  const bool by_rows = system.row == 1;
  const int fast = lane % side, last = system.n - 1;
  const bool whole = q != p && (q + 1) * side <= system.n;
#pragma unroll
  for (int i = 0; i < block_size / 32; ++i) {
    const int slow = 2 * i + lane / side, r = by_rows ? fast : slow, c = by_rows ? slow : fast;
    const int row = q * side + r, column = p * side + c;
    T *to = block + offset<T>(r, c);
    if (whole || (row <= last && column <= row))
      copy_async(to, system.at(row, column));
    else
      *to = dense::from_real<T>(row == column);
  }
}

template <class T, int warps>
struct Backward {
  using Work = Worker<T, warps, true>;
  const Work &work;
  const WayBack &way;

  __device__ T *block(int q, int p) const { return work.blocks + way.place[Places::index(q, p)] * block_size; }
  // Unknowns q by the first warp.
  __device__ void solve(int q) const {
    const int c = work.lane % side;
    T &place = work.rhs[q * side + c];
    const T value = substitute<true>(block(q, q), work.inverse + q * side, work.lane < side ? place : T{}, work.lane);
    if (work.lane < side) place = value;
  }
  // Subtracts the contributions of unknowns q from unknowns p, by one warp: two lanes an unknown.
  __device__ void take_off(int q, int p) const {
    const int c = work.lane % side, half = work.lane / side;
    const T *factor = block(q, p), *solved = work.rhs + q * side;
    T value{}, other{};
#pragma unroll
    for (int i = 0; i < side; i += 4) {
      const int r = row_in_turn<T>(i + half, c), s = row_in_turn<T>(i + 2 + half, c);
      value = dense::plus_product(value, factor[offset<T>(r, c)], solved[r]);
      other = dense::plus_product(other, factor[offset<T>(s, c)], solved[s]);
    }
    value = dense::sum(value, other);
    value = dense::sum(value, dense::from_lane_xor(~0u, value, side));
    T &place = work.rhs[p * side + c];
    if (half == 0) place = dense::difference(place, value);
  }
  // The blocks whose turn it is in step q, a warp a block: all warps, or all but the first.
  __device__ void fetch(int q, bool by_all) const {
    const int first = warps == 1 || by_all ? 0 : 1;
    const int begin = q + 1 < work.rows ? way.fetched_until[q + 1] : 0;
    for (int i = begin + work.warp - first; i < way.fetched_until[q]; i += warps - first)
      if (work.warp >= first) {
        const int row = way.fetched[i].row, column = way.fetched[i].column;
        copy_block(work.system, row, column, block(row, column), work.lane);
      }
    copies_end();
  }
  // Unknowns q of the solution to their place.
  __device__ void store(int q) const {
    const int row = q * side + work.lane;
    if (work.lane < side && row < work.system.n) work.system.put_right(row, 0, dense::conjugate(work.rhs[row]));
  }

  __device__ void run() const {
    constexpr bool alone = warps == 1;
#pragma unroll 1
    for (int q = work.rows - 1; q >= 0; --q) {
      if (work.warp == 0) solve(q);
      Work::meet();
      const bool at_once = way.waits_at_once >> q & 1;
      if (at_once) {
        fetch(q, true);
        copies_arrive<0>();
        Work::meet();
      }
      if (q > 0 && work.warp == 0) take_off(q, q - 1);
      if (alone || work.warp > 0) {
        for (int p = q - 2 - (alone ? 0 : work.warp - 1); p >= 0; p -= alone ? 1 : warps - 1) take_off(q, p);
        if (!at_once) fetch(q, false);
        if (alone || work.warp == warps - 1) store(q);
        if (way.waits >> q & 1)
          copies_arrive<0>();
        else
          copies_arrive<1>();
      }
      __syncwarp();
    }
  }
};

#endif  // __CUDACC__

}  // namespace sextant::hermitian_tile
