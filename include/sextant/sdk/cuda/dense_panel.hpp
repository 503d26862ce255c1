// SPDX-License-Identifier: BSD-3-Clause
// A panel of up to 64 columns in one launch: potrf (or L D L^H) of its triangle, then trsm of all rows below. Each
// block of threads factors the triangle for itself in shared memory, 2/3 w^3 flops that cost no more time than one
// block's, and solves for its own rows; the block that ends last writes the triangle. Reads and writes each number
// once. Bound: the chain of pivots, three barriers a column. Include from .cu files.
#pragma once

#include "sextant/sdk/dense_pivots.hpp"
#include "sextant/sdk/cuda/dense.hpp"

namespace sextant_dense::device {

using sextant::plugin::cuda::complex_valued;
using sextant::plugin::cuda::Real;

constexpr int panel_width = 64, panel_threads = 128;
constexpr int panel_ld = panel_width + 1, panel_rows_ld = panel_threads + 1;

// Where a failure is told: the smallest column that failed so far.
using Word = unsigned long long;
constexpr Word no_column = ~Word{0};

template <class T>
struct Panel {
  T *a;
  std::int64_t ld, rows;  // rows: of the triangle and below it
  int width;
  PivotRule rule;
  std::uint8_t *marks;  // of its columns; NULL
  Word *failed;         // NULL, or takes the smallest of first_column + the column that failed
  std::int64_t first_column;
  std::int32_t *info;  // NULL, or takes the 1-based column that failed, info_base added, where it holds 0
  std::int32_t info_base;
  unsigned *ticket;  // 0 before and after each launch; of one stream
};

inline unsigned panel_blocks(std::int64_t rows, int width) {
  return static_cast<unsigned>(rows > width ? (rows - width + panel_threads - 1) / panel_threads : 1);
}
template <class T>
std::size_t panel_shared(std::int64_t rows, int width) {
  return sizeof(T) * static_cast<std::size_t>(width) *
         static_cast<std::size_t>(panel_ld + (rows > width ? panel_rows_ld : 0));
}

// Of the largest panel, for numbers of so many bytes.
constexpr std::int64_t most_panel_shared(std::int64_t number) {
  return number * panel_width * (panel_ld + panel_rows_ld);
}

#ifdef __CUDACC__

namespace numbers = sextant::plugin::cuda::dense;

template <class T>
__device__ void tell_failure(const Panel<T> &p, int column) {
  if (p.failed) atomicMin(p.failed, static_cast<Word>(p.first_column + column));
  if (p.info && *p.info == 0) *p.info = p.info_base + column + 1;
}

// The triangle l[r + c panel_ld]. `speaks`: this block tells of failures and of pivots that were changed.
template <class T>
__device__ void factor_triangle(const Panel<T> &p, T *l, bool speaks) {
  const int w = p.width, thread = threadIdx.x;
  for (int j = 0; j < w; ++j) {
    Real<T> pivot = numbers::real_of(l[j + j * panel_ld]);
    const Pivot verdict = judge(p.rule, pivot);
    __syncthreads();  // all have read it
    if (thread == 0) {
      l[j + j * panel_ld] = numbers::from_real<T>(verdict != Pivot::failed && p.rule.definite ? sqrt(pivot) : pivot);
      if (speaks && verdict == Pivot::failed) tell_failure(p, j);
      if (speaks && verdict == Pivot::changed && p.marks) p.marks[j] = 1;
    }
    if (verdict == Pivot::failed) break;  // in all threads
    const Real<T> kept = p.rule.definite ? sqrt(pivot) : pivot, inverse = 1 / kept;
    for (int r = j + 1 + thread; r < w; r += panel_threads)
      l[r + j * panel_ld] = numbers::scaled(l[r + j * panel_ld], inverse);
    __syncthreads();
    const int left = w - j - 1;
    for (int e = thread; e < left * left; e += panel_threads) {
      const int r = j + 1 + e % left, c = j + 1 + e / left;
      if (r < c) continue;
      T factor = numbers::conjugate(l[c + j * panel_ld]);
      if (!p.rule.definite) factor = numbers::scaled(factor, pivot);
      l[r + c * panel_ld] = numbers::minus_product(l[r + c * panel_ld], l[r + j * panel_ld], factor);
    }
    __syncthreads();
  }
  __syncthreads();
}

// Rows below: a thread a row. x[r + c panel_rows_ld] holds L D (L in L L^H) as it is found.
template <class T>
__device__ void solve_rows(const Panel<T> &p, const T *l, T *x) {
  const std::int64_t row = p.width + static_cast<std::int64_t>(blockIdx.x) * panel_threads + threadIdx.x;
  if (row >= p.rows) return;
  T *const mine = x + threadIdx.x;
  for (int c = 0; c < p.width; ++c) mine[c * panel_rows_ld] = p.a[row + c * p.ld];
  for (int c = 0; c < p.width; ++c) {
    T value = mine[c * panel_rows_ld];
#pragma unroll 4
    for (int k = 0; k < c; ++k)
      value = numbers::minus_product(value, mine[k * panel_rows_ld], numbers::conjugate(l[c + k * panel_ld]));
    const Real<T> inverse = 1 / numbers::real_of(l[c + c * panel_ld]);
    const T scaled = numbers::scaled(value, inverse);
    mine[c * panel_rows_ld] = p.rule.definite ? scaled : value;
    p.a[row + c * p.ld] = scaled;
  }
}

template <class T>
__global__ void __launch_bounds__(panel_threads) factor_panel(Panel<T> p) {
  extern __shared__ __align__(16) unsigned char panel_memory[];
  T *const l = reinterpret_cast<T *>(panel_memory), *const x = l + p.width * panel_ld;
  __shared__ bool last;
  const int w = p.width;
  for (int e = threadIdx.x; e < w * w; e += panel_threads) {
    const int r = e % w, c = e / w;
    if (r >= c) l[r + c * panel_ld] = p.a[r + c * p.ld];
  }
  __syncthreads();
  factor_triangle(p, l, blockIdx.x == 0);
  solve_rows(p, l, x);
  // All blocks have read the triangle once the last one draws its ticket.
  if (threadIdx.x == 0) {
    last = true;
    if (gridDim.x > 1) {
      __threadfence();
      last = atomicInc(p.ticket, gridDim.x - 1) == gridDim.x - 1;
    }
  }
  __syncthreads();
  if (!last) return;
  for (int e = threadIdx.x; e < w * w; e += panel_threads) {
    const int r = e % w, c = e / w;
    if (r >= c) p.a[r + c * p.ld] = l[r + c * panel_ld];
  }
}

// to = from D or, divide, from D^-1: `rows` x `columns`; D's real diagonal is d[0], d[incd], ...
template <class T>
__global__ void scale_columns(const T *from, std::int64_t ld, T *to, std::int64_t ld_to, std::int64_t rows, int columns,
                              const T *d, std::int64_t incd, bool divide) {
  const std::int64_t r = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x;
  if (r >= rows) return;
  for (int c = blockIdx.y; c < columns; c += gridDim.y) {
    const Real<T> weight = numbers::real_of(d[c * incd]);
    to[r + c * ld_to] = numbers::scaled(from[r + c * ld], divide ? 1 / weight : weight);
  }
}

#endif  // __CUDACC__

}  // namespace sextant_dense::device
