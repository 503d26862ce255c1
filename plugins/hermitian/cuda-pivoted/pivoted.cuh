// SPDX-License-Identifier: BSD-3-Clause
// L D L^H with partial (Bunch-Kaufman) pivoting, a block a system, in LAPACK's format. A panel of columns is brought up
// to date one by one, with two candidates for a pivot; the rest then takes the whole panel's update in tiles, a warp
// each. Traffic: the trailing triangle read and written once a panel; bound by that, by the tiles' products, and for
// small orders by the search for pivots.
#pragma once

#include "pivoted_solve.cuh"
#include "sextant/plugin_cuda_dense_product.hpp"

namespace sextant::hermitian_pivoted {

// Elements in shared memory beside the panel: two columns in the making, or, while the rest is updated, a tile of
// L D a warp.
constexpr std::int64_t working_elements(std::int64_t n_max, int depth, int warps) {
  const std::int64_t columns = 2 * n_max, tiles = static_cast<std::int64_t>(warps) * dense::side * depth;
  return columns > tiles ? columns : tiles;
}

#ifdef __CUDACC__

template <class R>
struct Largest {
  R size;
  int index;
};

template <class R>
__device__ Largest<R> larger(Largest<R> a, Largest<R> b) {
  return b.size > a.size || (b.size == a.size && b.index < a.index) ? b : a;
}
// The warp's largest, the first of several. Sizes are not negative: their bits compare as they do, word by word.
__device__ inline Largest<float> over_warp(Largest<float> a) {
  const unsigned bits = __float_as_uint(a.size), most = __reduce_max_sync(~0u, bits);
  return {__uint_as_float(most), static_cast<int>(__reduce_min_sync(~0u, bits == most ? a.index : 0x7fffffff))};
}
__device__ inline Largest<double> over_warp(Largest<double> a) {
  const unsigned high = __double2hiint(a.size), most = __reduce_max_sync(~0u, high);
  const unsigned low = high == most ? __double2loint(a.size) : 0, rest = __reduce_max_sync(~0u, low);
  const int index = high == most && low == rest ? a.index : 0x7fffffff;
  return {__hiloint2double(static_cast<int>(most), static_cast<int>(rest)), __reduce_min_sync(~0u, index)};
}

constexpr int most_columns = 32, most_warps = 8;  // of a panel, of a block

// Shared memory of one block; the working elements follow, then the panel when it stands there.
template <class T>
struct alignas(16) Control {
  Largest<Real<T>> found[2][most_warps];
  T row[most_warps][most_columns];  // a row of L D, for each warp
  T below[most_columns + 1];  // D(j + 1, j), 0 where column j is no first one of a 2 x 2 block; below[0] for column -1
  Real<T> diagonal[most_columns];
};

template <class R>
constexpr __device__ R greatest() {
  return static_cast<R>(sizeof(R) == 8 ? 1.7976931348623157e308 : 3.402823466e38);
}

template <class T>
struct Elimination {
  using R = Real<T>;
  const dense::System<T> &system;
  T *left;     // n x depth: the panel of L with all interchanges applied
  T *working;  // working_elements
  Control<T> *control;
  std::int32_t *pivots;
  int depth;      // columns of a panel, 16 or 32
  bool from_end;  // rows are counted from the last one

  __device__ T &left_at(int r, int j) const { return left[r + j * system.n]; }
  __device__ T &current(int r, int which) const { return working[r + which * system.n]; }
  // The first of this thread's rows that is not above k. A row always belongs to the same thread; the number of threads
  // is a power of two.
  __device__ int first_row(int k) const {
    const int id = threadIdx.x, step = blockDim.x;
    return id >= k ? id : id + ((k - id + step - 1) & -step);
  }

  // LAPACK's ipiv: 1-based, negative in both entries of a 2 x 2 block.
  __device__ void put_pivot(int k, int with, bool two) const {
    const int number = from_end ? system.n - with : with + 1;
    pivots[from_end ? system.n - 1 - k : k] = two ? -number : number;
  }

  // The block's largest; every thread gets it. `buffer` alternates between calls.
  __device__ Largest<R> over_block(Largest<R> mine, int buffer) const {
    const int lane = threadIdx.x % 32;
    mine = over_warp(mine);
    if (lane == 0) control->found[buffer][threadIdx.x / 32] = mine;
    __syncthreads();
    return over_warp(lane < blockDim.x / 32 ? control->found[buffer][lane] : Largest<R>{0, system.n});
  }

  // Element (c, j) of L D: D is diagonal but for its 2 x 2 blocks.
  __device__ T left_times_d(int c, int j, int width) const {
    T value = dense::scaled(left_at(c, j), control->diagonal[j]);
    if (j > 0) value = dense::plus_product(value, left_at(c, j - 1), dense::conjugate(control->below[j]));
    if (j + 1 < width) value = dense::plus_product(value, left_at(c, j + 1), control->below[j + 1]);
    return value;
  }

  // Brings column c, rows k and below, up to date with the `width` columns of the panel, into current(., to). Returns
  // its largest element off the diagonal; what is not finite counts as infinite.
  __device__ Largest<R> update_column(int c, int k, int width, int to) const {
    T *row = control->row[threadIdx.x / 32];
    const int lane = threadIdx.x % 32;
    __syncwarp();
    if (lane < width) row[lane] = dense::conjugate(left_times_d(c, lane, width));
    __syncwarp();
    Largest<R> best{0, system.n};
    const int step = blockDim.x, last = system.n - 1;
    for (int r = first_row(k); r <= last; r += 2 * step) {
      // Two rows at once: their loads overlap. The second one may not exist.
      const bool second = r + step <= last;
      const int rows[2] = {r, second ? r + step : r};
      T value[2];
#pragma unroll
      for (int i = 0; i < 2; ++i) value[i] = *(rows[i] >= c ? system.at(rows[i], c) : system.at(c, rows[i]));
#pragma unroll
      for (int i = 0; i < 2; ++i)
        if (rows[i] < c) value[i] = dense::conjugate(value[i]);
#pragma unroll 8
      for (int j = 0; j < width; ++j) {
        const T times = row[j];
#pragma unroll
        for (int i = 0; i < 2; ++i)
          if (i == 0 || second) value[i] = dense::minus_product(value[i], left_at(rows[i], j), times);
      }
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        if (i == 1 && !second) continue;
        if (rows[i] == c) value[i] = dense::from_real<T>(dense::real_of(value[i]));
        current(rows[i], to) = value[i];
        const R size = dense::size_of(value[i]);
        if (rows[i] != c) best = larger(best, Largest<R>{size <= greatest<R>() ? size : greatest<R>() * 2, rows[i]});
      }
    }
    return over_block(best, to);
  }

  // Rows and columns a < b of what is left change places; column a itself is finished and lives in the panel. Each
  // thread then overwrites what it alone has read here.
  __device__ void interchange(int a, int b, int width) const {
    for (int j = threadIdx.x; j < width; j += blockDim.x) {
      const T kept = left_at(a, j);
      left_at(a, j) = left_at(b, j), left_at(b, j) = kept;
    }
    for (int r = first_row(a); r < system.n; r += blockDim.x) {
      const T value = *system.at(r, a);
      if (r == a)
        *system.at(b, b) = value;
      else if (r < b)
        *system.at(b, r) = dense::conjugate(value);
      else if (r > b)
        *system.at(r, b) = value;
    }
  }

  // A 1 x 1 pivot at k that came from row `with`: column k of L from current(., from).
  __device__ void finish_one(int k, int with, int width, int from) const {
    const R pivot = dense::real_of(current(with, from)), inverse = pivot != 0 ? 1 / pivot : R(1);
    for (int r = first_row(k); r < system.n; r += blockDim.x) {
      const T value = dense::scaled(current(r == with ? k : r, from), inverse);
      if (r > k) left_at(r, width) = value;
      *system.at(r, k) = r > k ? value : dense::from_real<T>(pivot);
    }
    if (threadIdx.x == 0) control->diagonal[width] = pivot, control->below[width + 1] = T{};
  }

  // A 2 x 2 pivot, its second row from row `with`: columns k and k + 1 of L are (w1 w2) D^-1, scaled by |D(2, 1)|, the
  // largest element of D.
  __device__ void finish_two(int k, int with, int width) const {
    const T below = current(with, 0);
    const R d1 = dense::real_of(current(k, 0)), d2 = dense::real_of(current(with, 1));
    const Block2<T> block(d1, below, d2);
    for (int r = first_row(k); r < system.n; r += blockDim.x) {
      T l1 = current(r == with ? k + 1 : r, 0), l2 = current(r == with ? k + 1 : r, 1);
      block.divide_row(l1, l2);
      if (r > k + 1) left_at(r, width) = l1, left_at(r, width + 1) = l2;
      if (r == k) l1 = dense::from_real<T>(d1);
      if (r == k + 1) l1 = below, l2 = dense::from_real<T>(d2);
      *system.at(r, k) = l1;
      if (r > k) *system.at(r, k + 1) = l2;
    }
    if (threadIdx.x == 0) {
      control->diagonal[width] = d1, control->diagonal[width + 1] = d2;
      control->below[width + 1] = below, control->below[width + 2] = T{};
    }
  }

  // One pivot at column k, the panel holding `width` columns: columns eliminated, 0 for a system that is not finite.
  __device__ int step(int k, int width, std::int32_t &code) const {
    const R alpha = static_cast<R>(0.6403882032022076);  // (1 + sqrt 17) / 8 bounds the growth of elements
    const Largest<R> column = update_column(k, k, width, 0);
    const R own = fabs(dense::real_of(current(k, 0)));
    if (!(own <= greatest<R>()) || !(column.size <= greatest<R>())) return 0;
    int with = k, wide = 1, from = 0;
    if (own <= 0 && column.size <= 0) {
      if (code == 0) code = from_end ? system.n - k : k + 1;
    } else if (own < alpha * column.size) {
      const Largest<R> row = update_column(column.index, k, width, 1);
      const R other = fabs(dense::real_of(current(column.index, 1)));
      if (!(row.size <= greatest<R>()) || !(other <= greatest<R>())) return 0;
      if (own < alpha * column.size * (column.size / row.size)) {
        with = column.index;
        if (other >= alpha * row.size)
          from = 1;
        else
          wide = 2;
      }
    }
    if (with != k + wide - 1) interchange(k + wide - 1, with, width);
    if (wide == 1)
      finish_one(k, with, width, from);
    else
      finish_two(k, with, width);
    if (threadIdx.x == 0) {
      put_pivot(k, with, wide == 2);
      if (wide == 2) put_pivot(k + 1, with, true);
    }
    __syncthreads();
    return wide;
  }

  // A(r, c) -= L (L D)^H from row and column `first` on: a warp takes 16 columns at a time, the last ones first, so
  // that the columns of the next panel are the last to leave the caches.
  __device__ void update_rest(int first, int width) const {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32, last = system.n - 1;
    for (int e = threadIdx.x; e < system.n * (depth - width); e += blockDim.x) left[e + width * system.n] = T{};
    __syncthreads();
    T *tile = working + warp * dense::side * depth;
    const int columns = (system.n - first + dense::side - 1) / dense::side;
    for (int turn = warp; turn < columns; turn += warps) {
      const int c0 = first + (columns - 1 - turn) * dense::side;
      __syncwarp();
      for (int e = lane; e < dense::side * depth; e += 32) {
        const int c = min(c0 + e % dense::side, last), j = e / dense::side;
        tile[e] = j < width ? left_times_d(c, j, width) : T{};
      }
      __syncwarp();
      for (int r0 = c0; r0 < system.n; r0 += dense::side) update_tile(r0, c0, tile, lane);
    }
    __syncthreads();
  }
  __device__ void update_tile(int r0, int c0, const T *tile, int lane) const {
    const int last = system.n - 1;
    T value[8];
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const int r = min(r0 + dense::row_of(i, lane), last);
      value[i] = *system.at(r, min(c0 + dense::column_of(i, lane), r));
    }
    dense::Product<T> product;
    const int upper_row = min(r0 + lane / 4, last), lower_row = min(r0 + lane / 4 + 8, last);
    for (int j = 0; j < depth; j += dense::side)
      product.add([&](int r, int k) { return left_at(r < 8 ? upper_row : lower_row, j + k); },
                  [&](int c, int k) { return tile[c + (j + k) * dense::side]; }, lane);
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const int r = r0 + dense::row_of(i, lane), c = c0 + dense::column_of(i, lane);
      if (r <= last && c <= r) *system.at(r, c) = dense::difference(value[i], product.element(i));
    }
  }

  __device__ std::int32_t factor() const {
    std::int32_t code = 0;
    if (threadIdx.x == 0) control->below[0] = T{};
    for (int k = 0; k < system.n;) {
      int width = 0;
      while (k < system.n && width + 1 < depth) {  // a 2 x 2 block needs two columns
        const int wide = step(k, width, code);
        if (wide == 0) return SXT_HERMITIAN_NOT_FINITE;
        k += wide, width += wide;
      }
      if (k < system.n) update_rest(k, width);
    }
    return code;
  }
};

// Blocks take systems in turn. panels: n_max x depth elements a block in device memory, or NULL for shared memory.
template <class T, int threads, int resident>
__global__ void __launch_bounds__(threads, resident)
    factor_pivoted(const dense::Set set, std::int32_t phase, std::int32_t depth, T *panels) {
  extern __shared__ __align__(16) unsigned char memory[];
  auto *control = reinterpret_cast<Control<T> *>(memory);
  T *working = reinterpret_cast<T *>(control + 1);
  T *panel = panels ? panels + blockIdx.x * static_cast<std::int64_t>(set.n_max) * depth
                    : working + working_elements(set.n_max, depth, threads / 32);
  for (std::int64_t i = blockIdx.x; i < set.batch; i += gridDim.x) {
    const dense::System<T> system = dense::indefinite_system<T>(set, i);
    std::int32_t *pivots = set.pivots + i * set.stride_pivots;
    if (!dense::takes_part(set, i, phase, system, threadIdx.x == 0)) continue;
    if (phase & SXT_HERMITIAN_FACTOR) {
      const std::int32_t code = Elimination<T>{system, panel, working, control, pivots, depth, set.upper}.factor();
      __syncthreads();
      if (threadIdx.x == 0) set.info[i] = code;
      if (code != 0) continue;
    }
    const Pivots<T> numbers{system, pivots, set.upper};
    if (system.n_rhs < threads / 32) {
      const BlockSolve<T> together{system, numbers, working, control->row[0]};
      for (int k = 0; k < system.n_rhs; ++k) together.solve(k);
    } else {
      const WarpSolve<T> each{system, numbers, static_cast<int>(threadIdx.x % 32)};
      for (int k = threadIdx.x / 32; k < system.n_rhs; k += threads / 32) each.solve(k);
    }
    __syncthreads();
  }
}

#endif  // __CUDACC__

}  // namespace sextant::hermitian_pivoted
