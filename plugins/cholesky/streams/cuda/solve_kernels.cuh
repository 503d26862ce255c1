// SPDX-License-Identifier: BSD-3-Clause
// Kernels of the solves. Forwards each supernode has a vector of its rows, to which its children's are added in their
// order; backwards it reads the solution at its rows. L is read once a sweep; a subtree or a narrow supernode is one
// block's, panels of a wide one are many blocks'. No sum depends on timing.
#pragma once

#include "plan.hpp"
#include "plugins/cholesky/shared/device.cuh"
#include "sextant/sdk/cuda/dense_panel.hpp"

namespace sextant_cholesky_streams {

namespace numbers = sextant::plugin::cuda::dense;
using sextant::plugin::cuda::Real;
using sextant_cholesky::Tables;

constexpr int solve_threads = 128, wide_threads = 1024, most_solve_columns = 8, solve_panel = 64;
constexpr int most_solve_width = 160;  // of a supernode that one block solves

// One sweep over a group of right-hand sides.
template <class T>
struct Sweep {
  Tables s;
  const std::int32_t *place, *child_at, *children;
  const T *l;
  T *x;               // n a column, in the order of elimination
  T *fronts;          // as many numbers a column as the row lists have
  std::int64_t size;  // of these
  int columns;
  bool unit;
  __device__ bool is_factored(int p) const { return s.super_ptr[p] < s.n_factored; }
  __device__ T *front(int p, int c) const { return fronts + s.row_ptr[p] + c * size; }
  __device__ Real<T> inverse(const T *block, int m, int j) const {
    return unit ? Real<T>(1) : 1 / numbers::real_of(block[j + static_cast<std::int64_t>(j) * m]);
  }
};

// A front's vector: the right-hand side at its own columns, and what its children hand on.
template <class T>
__device__ void assemble_front(const Sweep<T> &v, int p) {
  const int m = v.s.height(p), w = v.s.width(p);
  const std::int64_t first = v.s.super_ptr[p];
  for (int c = 0; c < v.columns; ++c)
    for (int i = threadIdx.x; i < m; i += blockDim.x) v.front(p, c)[i] = i < w ? v.x[first + i + c * v.s.n] : T{};
  __syncthreads();
  for (int k = v.child_at[p]; k < v.child_at[p + 1]; ++k) {
    const int child = v.children[k], own = v.s.width(child), count = v.s.height(child) - own;
    const std::int32_t *const place = v.place + v.s.row_ptr[child] + own;
    for (int c = 0; c < v.columns; ++c) {
      const T *const from = v.front(child, c) + own;
      T *const to = v.front(p, c);
      for (int i = threadIdx.x; i < count; i += blockDim.x) to[place[i]] = numbers::sum(to[place[i]], from[i]);
    }
    __syncthreads();
  }
}

// The triangle of `w` columns at block: b[i + c w] in shared memory becomes L^-1 b. Entries are scaled at the end:
// until then row j holds L(j, j) times its unknown.
template <class T>
__device__ void forward_triangle(const Sweep<T> &v, const T *block, int m, int w, T *b) {
  for (int j = 0; j < w; ++j) {
    const Real<T> inverse = v.inverse(block, m, j);
    const int left = w - j - 1;
    for (int e = threadIdx.x; e < left * v.columns; e += blockDim.x) {
      const int i = j + 1 + e % left, c = e / left;
      b[i + c * w] = numbers::minus_product(b[i + c * w], block[i + static_cast<std::int64_t>(j) * m],
                                            numbers::scaled(b[j + c * w], inverse));
    }
    __syncthreads();
  }
  for (int e = threadIdx.x; e < w * v.columns; e += blockDim.x)
    b[e] = numbers::scaled(b[e], v.inverse(block, m, e % w));
  __syncthreads();
}

template <class T>
__device__ void backward_triangle(const Sweep<T> &v, const T *block, int m, int w, T *b) {
  for (int j = w - 1; j >= 0; --j) {
    const Real<T> inverse = v.inverse(block, m, j);
    for (int e = threadIdx.x; e < j * v.columns; e += blockDim.x) {
      const int i = e % j, c = e / j;
      b[i + c * w] =
          numbers::minus_product(b[i + c * w], numbers::conjugate(block[j + static_cast<std::int64_t>(i) * m]),
                                 numbers::scaled(b[j + c * w], inverse));
    }
    __syncthreads();
  }
  for (int e = threadIdx.x; e < w * v.columns; e += blockDim.x)
    b[e] = numbers::scaled(b[e], v.inverse(block, m, e % w));
  __syncthreads();
}

// front(i) -= sum of block(i, j) b(j): rows first, first + step, ... below m; block begins at the panel's columns.
template <class T>
__device__ void take_off_rows(const Sweep<T> &v, const T *block, T *front, int m, int w, int first, int step,
                              const T *b) {
  for (int i = first; i < m; i += step) {
    T sum[most_solve_columns];
#pragma unroll
    for (int c = 0; c < most_solve_columns; ++c) sum[c] = c < v.columns ? front[i + c * v.size] : T{};
    for (int j = 0; j < w; ++j) {
      const T entry = block[i + static_cast<std::int64_t>(j) * m];
#pragma unroll
      for (int c = 0; c < most_solve_columns; ++c)
        if (c < v.columns) sum[c] = numbers::minus_product(sum[c], entry, b[j + c * w]);
    }
#pragma unroll
    for (int c = 0; c < most_solve_columns; ++c)
      if (c < v.columns) front[i + c * v.size] = sum[c];
  }
}

template <class T>
__device__ T *solve_memory() {
  extern __shared__ __align__(16) unsigned char solve_shared[];
  return reinterpret_cast<T *>(solve_shared);
}

// A block a job: supernodes first .. last one after the other.
template <class T>
__global__ void __launch_bounds__(solve_threads) forward_fronts(Sweep<T> v, const int2 *jobs) {
  T *const b = solve_memory<T>();
  const int2 job = jobs[blockIdx.x];
  for (int p = job.x; p <= job.y; ++p) {
    assemble_front(v, p);
    const int m = v.s.height(p), w = v.s.width(p);
    const std::int64_t first = v.s.super_ptr[p];
    const T *const block = v.l + v.s.value_ptr[p];
    for (int e = threadIdx.x; e < w * v.columns; e += solve_threads) b[e] = v.front(p, e / w)[e % w];
    __syncthreads();
    if (v.is_factored(p)) forward_triangle(v, block, m, w, b);
    for (int e = threadIdx.x; e < w * v.columns; e += solve_threads) v.x[first + e % w + e / w * v.s.n] = b[e];
    if (v.is_factored(p)) take_off_rows(v, block, v.front(p, 0), m, w, w + threadIdx.x, solve_threads, b);
    __syncthreads();
  }
}

// One wide front's vector, by one block; where its columns are not factored, that is all.
template <class T>
__global__ void __launch_bounds__(wide_threads) begin_wide_front(Sweep<T> v, int p) {
  assemble_front(v, p);
  if (v.is_factored(p)) return;
  for (int c = 0; c < v.columns; ++c)
    for (int i = threadIdx.x; i < v.s.width(p); i += blockDim.x)
      v.x[v.s.super_ptr[p] + i + c * v.s.n] = v.front(p, c)[i];
}

// Columns j0 .. j0 + w - 1 of a wide front: every block solves for them, from numbers that no block writes, and takes
// them off rows of its own.
template <class T>
__global__ void __launch_bounds__(solve_threads) forward_panel(Sweep<T> v, int p, int j0, int w) {
  T *const b = solve_memory<T>();
  const int m = v.s.height(p);
  const T *const block = v.l + v.s.value_ptr[p] + static_cast<std::int64_t>(j0) * m;
  for (int e = threadIdx.x; e < w * v.columns; e += solve_threads) b[e] = v.front(p, e / w)[j0 + e % w];
  __syncthreads();
  forward_triangle(v, block + j0, m, w, b);
  if (blockIdx.x == 0)
    for (int e = threadIdx.x; e < w * v.columns; e += solve_threads)
      v.x[v.s.super_ptr[p] + j0 + e % w + e / w * v.s.n] = b[e];
  take_off_rows(v, block, v.front(p, 0), m, w, j0 + w + static_cast<int>(blockIdx.x) * solve_threads + threadIdx.x,
                static_cast<int>(gridDim.x) * solve_threads, b);
}

// The sum of conj(block(i, column)) x(row i) over the rows from first on, by one warp; in all lanes.
template <class T>
__device__ T dot_below(const Sweep<T> &v, const T *column, const std::int32_t *rows, int first, int m, int c, int lane,
                       int step) {
  T sum{};
  for (int i = first + lane; i < m; i += step)
    sum = numbers::plus_product(sum, numbers::conjugate(column[i]), v.x[rows[i] + c * v.s.n]);
#pragma unroll
  for (int bits = 16; bits > 0; bits /= 2) sum = numbers::sum(sum, numbers::from_lane_xor(~0u, sum, bits));
  return sum;
}

template <class T>
__global__ void __launch_bounds__(solve_threads) backward_fronts(Sweep<T> v, const int2 *jobs) {
  T *const b = solve_memory<T>();
  const int2 job = jobs[blockIdx.x];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int p = job.y; p >= job.x; --p) {
    if (!v.is_factored(p)) continue;
    const int m = v.s.height(p), w = v.s.width(p);
    const std::int64_t first = v.s.super_ptr[p];
    const T *const block = v.l + v.s.value_ptr[p];
    for (int e = warp; e < w * v.columns; e += solve_threads / 32) {
      const int j = e % w, c = e / w;
      const T sum = dot_below(v, block + static_cast<std::int64_t>(j) * m, v.s.rows_of(p), w, m, c, lane, 32);
      if (lane == 0) b[e] = numbers::difference(v.x[first + j + c * v.s.n], sum);
    }
    __syncthreads();
    backward_triangle(v, block, m, w, b);
    for (int e = threadIdx.x; e < w * v.columns; e += solve_threads) v.x[first + e % w + e / w * v.s.n] = b[e];
    __syncthreads();
  }
}

// A block a column of columns j0 .. j0 + w - 1: what the rows below the panel contribute goes to the front's vector.
template <class T>
__global__ void __launch_bounds__(solve_threads) backward_dots(Sweep<T> v, int p, int j0, int w) {
  __shared__ T part[solve_threads / 32];
  const int m = v.s.height(p), j = j0 + static_cast<int>(blockIdx.x), lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const T *const column = v.l + v.s.value_ptr[p] + static_cast<std::int64_t>(j) * m;
  for (int c = 0; c < v.columns; ++c) {
    const T sum = dot_below(v, column, v.s.rows_of(p), j0 + w, m, c, static_cast<int>(threadIdx.x), solve_threads);
    if (lane == 0) part[warp] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
      T total = part[0];
      for (int k = 1; k < solve_threads / 32; ++k) total = numbers::sum(total, part[k]);
      v.front(p, c)[j] = numbers::difference(v.x[v.s.super_ptr[p] + j + c * v.s.n], total);
    }
    __syncthreads();
  }
}

template <class T>
__global__ void __launch_bounds__(solve_threads) backward_panel(Sweep<T> v, int p, int j0, int w) {
  T *const b = solve_memory<T>();
  const int m = v.s.height(p);
  const T *const block = v.l + v.s.value_ptr[p] + static_cast<std::int64_t>(j0) * m + j0;
  for (int e = threadIdx.x; e < w * v.columns; e += solve_threads) b[e] = v.front(p, e / w)[j0 + e % w];
  __syncthreads();
  backward_triangle(v, block, m, w, b);
  for (int e = threadIdx.x; e < w * v.columns; e += solve_threads)
    v.x[v.s.super_ptr[p] + j0 + e % w + e / w * v.s.n] = b[e];
}

}  // namespace sextant_cholesky_streams
