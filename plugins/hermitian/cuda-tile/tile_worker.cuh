// SPDX-License-Identifier: BSD-3-Clause
// The threads that work on one system: `warps` warps, 16 columns at a time, looking left. Warps sum products of
// finished blocks for the block column, the first warp eliminates the diagonal block meanwhile, then a thread a row
// solves with it. Right-hand sides are further rows (their conjugates), so that L y = b costs no pass of its own.
#pragma once

#include "tile_blocks.cuh"

namespace sextant::hermitian_tile {

// Shared memory of one system: this, then blocks, then right-hand sides, then 1 / L(j, j) of every column.
template <class T>
struct alignas(16) Control {
  T column[2][side];  // the diagonal block's pivot column
  int code;           // info
};

// Blocks the back substitution needs: a block column, twice where that fits in what elimination needs anyway.
inline int panels_at_once(int rows, const Places &places) { return places.count >= 2 * rows ? 2 : 1; }

template <class T>
constexpr std::size_t shared_bytes(int rows, const Places &places, std::int64_t n_rhs) {
  const int blocks = places.count > rows ? places.count : rows;
  const std::size_t bytes =
      sizeof(Control<T>) +
      (static_cast<std::size_t>(blocks) * block_size + static_cast<std::size_t>(rows) * side * n_rhs) * sizeof(T) +
      static_cast<std::size_t>(rows) * side * sizeof(Real<T>);
  return (bytes + 15) / 16 * 16;
}

#ifdef __CUDACC__

template <class T, int warps>
struct Worker {
  static constexpr int threads = warps * 32;
  dense::System<T> system;
  const Places &places;
  T *blocks, *rhs;   // rhs: element (row c, right-hand side k), conjugated, at c * n_rhs + k
  Real<T> *inverse;  // 1 / L(j, j)
  Control<T> *control;
  int id, lane, warp, rows;  // rows: block rows

  __device__ static void meet() {
    if constexpr (warps == 1)
      __syncwarp();
    else
      __syncthreads();
  }
  __device__ T *block(int r, int p) const { return blocks + places.place[Places::index(r, p)] * block_size; }

  // A lane's elements of block (r, q) of A; beyond the order the identity, which eliminates to itself. All are asked
  // for before the first is looked at: where there is none, the nearest one is read.
  __device__ void load_block(int r, int q, T (&value)[8]) const {
    const int last = system.n - 1;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const int row = min(r * side + dense::row_of(i, lane), last);
      value[i] = *system.at(row, min(q * side + dense::column_of(i, lane), row));
    }
    if (r > q && (r + 1) * side <= system.n) return;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const int row = r * side + dense::row_of(i, lane), column = q * side + dense::column_of(i, lane);
      if (row == column)
        value[i] = dense::from_real<T>(row > last ? Real<T>(1) : dense::real_of(value[i]));
      else if (row > last || row < column)
        value[i] = T{};
    }
  }
  __device__ void load_right_block(int q, int first, T (&value)[8]) const {
#pragma unroll
    for (int i = 0; i < 8; ++i)
      value[i] = system.right(min(q * side + dense::column_of(i, lane), system.n - 1),
                              min(first + dense::row_of(i, lane), system.n_rhs - 1));
#pragma unroll
    for (int i = 0; i < 8; ++i)
      value[i] = q * side + dense::column_of(i, lane) < system.n ? dense::conjugate(value[i]) : T{};
  }

  // Block row r of block column q (beyond the last row: right-hand sides), less what finished columns contribute.
  __device__ void sum_block(int r, int q) const {
    const bool right = r >= rows;
    const int first = (r - rows) * side;  // first right-hand side of the block
    T value[8];
    if (right)
      load_right_block(q, first, value);
    else
      load_block(r, q, value);
    dense::Product<T> product;
    for (int p = 0; p < q; ++p) {
      const T *other = block(q, p);
      const auto across = [&](int column, int k) { return other[offset<T>(column, k)]; };
      if (right) {
        const T *part = rhs + p * side * system.n_rhs + first;
        product.add([&](int row, int k) { return first + row < system.n_rhs ? part[k * system.n_rhs + row] : T{}; },
                    across, lane);
      } else {
        const T *mine = block(r, p);
        product.add([&](int row, int k) { return mine[offset<T>(row, k)]; }, across, lane);
      }
    }
    T *to = right ? nullptr : block(r, q);
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const int row = dense::row_of(i, lane), column = dense::column_of(i, lane);
      const T left = dense::difference(value[i], product.element(i));
      if (!right)
        to[offset<T>(row, column)] = left;
      else if (first + row < system.n_rhs)
        rhs[(q * side + column) * system.n_rhs + first + row] = left;
    }
  }

  // The diagonal block by the first warp: lane (row, half) holds every second column. Columns are scaled at the end
  // only, so that just a reciprocal stands between one pivot and the next.
  __device__ void eliminate_diagonal(int q) const {
    T *const mine = block(q, q);
    const int row = lane % side, half = lane / side;
    T held[side / 2];
    __syncwarp();
#pragma unroll
    for (int i = 0; i < side / 2; ++i) held[i] = mine[offset<T>(row, 2 * i + half)];
    if (half == 0) control->column[0][row] = held[0];
    Real<T> pivot{};
#pragma unroll
    for (int j = 0; j < side; ++j) {
      __syncwarp();
      const T *column = control->column[j & 1];
      const Real<T> diagonal = dense::real_of(column[j]);
      if (row == j) pivot = diagonal;
      const T left = dense::scaled(column[row], dense::reciprocal(diagonal));
      const auto update = [&](int i) {
        if (2 * i + half > j) held[i] = dense::minus_product(held[i], left, dense::conjugate(column[2 * i + half]));
      };
      if (j + 1 < side) {
        update((j + 1) / 2);  // the next pivot column first
        if (half == (j + 1) % 2) control->column[(j + 1) & 1][row] = held[(j + 1) / 2];
      }
#pragma unroll
      for (int i = (j + 1) / 2 + 1; i < side / 2; ++i) update(i);
    }
    scale_diagonal(q, pivot, held);
  }

  __device__ void scale_diagonal(int q, Real<T> pivot, const T (&held)[side / 2]) const {
    T *const mine = block(q, q);
    const int row = lane % side, half = lane / side, r = q * side + row;
    const int code = dense::judge_pivot(pivot, r);
    const unsigned bad = __ballot_sync(~0u, code != 0) & 0xffff;
    const int first_bad = __shfl_sync(~0u, code, bad ? __ffs(bad) - 1 : 0);
    if (lane == 0) control->code = first_bad;
    const Real<T> root = rsqrt(pivot);
    if (half == 0) inverse[r] = root;
    __syncwarp();
#pragma unroll
    for (int i = 0; i < side / 2; ++i) {
      const int c = 2 * i + half;
      const T value = c == row ? dense::from_real<T>(pivot * root) : dense::scaled(held[i], inverse[q * side + c]);
      if (c <= row) mine[offset<T>(row, c)] = value;
      if (c <= row && r < system.n) *system.at(r, q * side + c) = value;
    }
  }

  // Rows below the diagonal block and right-hand sides: x L(q, q)^H = x, a thread a row.
  __device__ void solve_rows(int q) const {
    const T *diagonal = block(q, q);
    const int below = (rows - q - 1) * side;
    for (int e = id; e < below + system.n_rhs; e += threads) {
      const bool right = e >= below;
      const int r = (q + 1) * side + e, row = e % side;
      T *from = right ? rhs + q * side * system.n_rhs + e - below : block(q + 1 + e / side, q);
      T x[side];
#pragma unroll
      for (int k = 0; k < side; ++k) x[k] = from[right ? k * system.n_rhs : offset<T>(row, k)];
#pragma unroll
      for (int j = 0; j < side; ++j) {
        x[j] = dense::scaled(x[j], inverse[q * side + j]);
#pragma unroll
        for (int k = j + 1; k < side; ++k)
          x[k] = dense::minus_product(x[k], x[j], dense::conjugate(diagonal[offset<T>(k, j)]));
      }
#pragma unroll
      for (int k = 0; k < side; ++k) {
        from[right ? k * system.n_rhs : offset<T>(row, k)] = x[k];
        if (!right && r < system.n) *system.at(r, q * side + k) = x[k];
      }
    }
  }

  // Asks the last cache for the whole triangle: block columns are then read one by one with its latency only.
  __device__ void prefetch() const {
    const bool by_columns = system.row == 1;
    constexpr int line = 128 / sizeof(T);
    for (int c = id / 8; c < system.n; c += threads / 8) {
      const int from = by_columns ? c / line * line : 0, to = by_columns ? system.n : c + 1;
      for (int r = from + id % 8 * line; r < to; r += 8 * line)
        asm volatile("prefetch.global.L2 [%0];" ::"l"(by_columns ? system.at(r, c) : system.at(c, r)));
    }
  }

  // L L^H = A and L y = b; the code for info.
  __device__ int factor() const {
    const int all_rows = rows + (system.n_rhs + side - 1) / side;
    if (rows > 1) prefetch();
    for (int q = 0; q < rows; ++q) {
      if (warp == 0) sum_block(q, q), eliminate_diagonal(q);
      // The first warp is busy with the diagonal block: the others share what is below.
      if (warps == 1 || warp > 0)
        for (int r = q + (warps == 1 ? 1 : warp); r < all_rows; r += warps == 1 ? 1 : warps - 1) sum_block(r, q);
      meet();
      if (control->code != 0) return control->code;
      solve_rows(q);
      meet();
    }
    return 0;
  }
};

#endif  // __CUDACC__

}  // namespace sextant::hermitian_tile
