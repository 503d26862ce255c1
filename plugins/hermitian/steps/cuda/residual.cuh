// SPDX-License-Identifier: BSD-3-Clause
// c -= (a + shift I) b in double precision and its backward error, as residual() of plugins/hermitian/shared/steps.hpp,
// by one block of threads a system. The stored triangle is the memory traffic, sizeof(T) bytes for 4 (complex: 16)
// flops: each element is read once, along its column, and serves its row and, conjugated, the row of its column. The
// block goes down strips of columns, tile by tile; a lane keeps two rows by four columns, with the next tile's
// prefetched. A row's sums are joined over the warps in shared memory once a tile, a column's in registers once a
// strip, in a fixed order. Shared memory holds the sums of 1024 rows: beyond that order, elements outside the squares
// of 1024 are read twice.
#pragma once

#include <cstdint>
#include <type_traits>

#include "plugins/hermitian/shared/steps.hpp"

namespace sextant::plugin::hermitian_steps {

inline constexpr int residual_warps_most = 8, residual_threads_most = 32 * residual_warps_most;
inline constexpr int residual_rows = 64, residual_columns = 4, residual_window = 1024;  // of a tile, of a lane, of sums

// Warps that share a tile, by a system's order alone: its bits do not depend on other systems of the set.
inline SXT_LANES int residual_warps(std::int64_t n) { return n <= 32 ? 2 : n <= 64 ? 4 : residual_warps_most; }

// Sums have one or two parts of numbers, then sizes. A few sizes are added as they come, in single precision.
template <class T>
inline constexpr int parts_of = is_complex<T> ? 2 : 1;
template <class T>
using rough_of = std::conditional_t<is_complex<T>, float, double>;

template <class T>
struct ResidualShared {
  double sums[parts_of<T> + 1][residual_window];
  double partial[2][parts_of<T>][residual_warps_most][residual_rows];  // of this tile and the one before
  rough_of<T> partial_sizes[2][residual_warps_most][residual_rows];
};

// A complex number in one access: passes_over() has checked its alignment.
template <class T>
__device__ T loaded(const T *from) {
  if constexpr (is_complex<T>) {
    using Pair = std::conditional_t<std::is_same_v<T, std::complex<double>>, double2, float2>;
    const Pair pair = *reinterpret_cast<const Pair *>(from);
    return T(pair.x, pair.y);
  } else {
    return *from;
  }
}

// Goes over the tiles that hold rows begin .. end of the whole matrix, strip by strip.
struct ResidualWalk {
  int n, width, begin, end;
  bool lower;
  int column = 0, row = 0, last = 0;  // where the tile begins; the end of its strip's rows

  __device__ bool mirrored() const { return column >= begin && column < end; }
  __device__ bool done() const { return column >= (lower ? end : n); }
  __device__ int last_column() const { return min(n, column + width); }
  __device__ void enter(int strip) {
    column = strip;
    row = lower ? max(begin, column & ~31) : mirrored() ? 0 : begin;
    last = !mirrored() ? end : lower ? n : last_column();
  }
  __device__ void next() {
    row += residual_rows;
    if (row >= last) enter(column + width);
  }
};

// Adds four numbers over the lanes of a warp; lane 8 k and the seven after it get sum k.
__device__ inline double sum_of_four(const double (&v)[4]) {
  const bool far = threadIdx.x & 16, odd = threadIdx.x & 8;
  const double first = (far ? v[2] : v[0]) + __shfl_xor_sync(0xffffffffu, far ? v[0] : v[2], 16);
  const double second = (far ? v[3] : v[1]) + __shfl_xor_sync(0xffffffffu, far ? v[1] : v[3], 16);
  double sum = (odd ? second : first) + __shfl_xor_sync(0xffffffffu, odd ? first : second, 8);
  for (int by = 4; by > 0; by /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, by);
  return sum;
}

// The products of a window's rows, without the diagonal, for right-hand side r. sizes: sums of sizes, too.
template <class T, bool sizes, class Group>
struct ResidualProduct {
  const Step<T, Group> &step;
  ResidualShared<T> &shared;
  std::int64_t r;
  int lane, warp;
  static constexpr int parts = parts_of<T> + sizes;
  T x_column[residual_columns];
  double column_sums[parts][residual_columns];

  // The lane's numbers of one half of a tile, 0 outside the triangle and on its diagonal, and b of its row.
  __device__ void load(T (&v)[residual_columns], T &x, const ResidualWalk &at, int half) const {
    const int i = at.row + 32 * half + lane, j = at.column + residual_columns * warp, last_column = at.last_column();
    const bool row_there = i < at.last;
    const T *place = step.a.data + i + j * step.a.ld;
#pragma unroll
    for (int k = 0; k < residual_columns; ++k, place += step.a.ld) {
      const bool held = row_there && j + k < last_column && (at.lower ? i > j + k : i < j + k);
      v[k] = held ? loaded(place) : T(0);
    }
    x = row_there ? loaded(&step.b.at(i, r)) : T(0);
  }
  __device__ void begin_strip(const ResidualWalk &at) {
    const int j = at.column + residual_columns * warp;
#pragma unroll
    for (int k = 0; k < residual_columns; ++k) {
      x_column[k] = j + k < at.last_column() ? loaded(&step.b.at(j + k, r)) : T(0);
#pragma unroll
      for (int part = 0; part < parts; ++part) column_sums[part][k] = 0;
    }
  }
  __device__ void use(const T (&v)[residual_columns], T x, int parity, int half) {
    double row_re = 0, row_im = 0;
    rough_of<T> row_size = 0;
#pragma unroll
    for (int k = 0; k < residual_columns; ++k) {
      row_re += re(v[k]) * re(x_column[k]);
      column_sums[0][k] += re(v[k]) * re(x);
      if constexpr (is_complex<T>) {
        row_re -= im(v[k]) * im(x_column[k]);
        row_im += re(v[k]) * im(x_column[k]) + im(v[k]) * re(x_column[k]);
        column_sums[0][k] += im(v[k]) * im(x);
        column_sums[1][k] += re(v[k]) * im(x) - im(v[k]) * re(x);
      }
      if constexpr (sizes) {
        const auto rough = static_cast<rough_of<T>>(rough_size<T>(re(v[k]), im(v[k])));
        row_size += rough;
        column_sums[parts - 1][k] += rough;
      }
    }
    const int row = 32 * half + lane;
    shared.partial[parity][0][warp][row] = row_re;
    if constexpr (is_complex<T>) shared.partial[parity][1][warp][row] = row_im;
    if constexpr (sizes) shared.partial_sizes[parity][warp][row] = row_size;
  }
  // Adds the warps' sums of a tile's rows; a place always belongs to the same thread.
  __device__ void join_rows(const ResidualWalk &at, int parity, int warps) const {
    for (int e = threadIdx.x; e < parts * residual_rows; e += blockDim.x) {
      const int part = e / residual_rows, row = e % residual_rows, i = at.row + row;
      if (i < at.begin || i >= at.end) continue;
      double sum = 0;
#pragma unroll 2  // more cost registers
      for (int w = 0; w < warps; ++w)
        sum += part < parts_of<T> ? shared.partial[parity][part][w][row] : shared.partial_sizes[parity][w][row];
      shared.sums[part][i - at.begin] += sum;
    }
  }
  __device__ void join_columns(const ResidualWalk &at) const {
    double sums[parts];
#pragma unroll
    for (int part = 0; part < parts; ++part) sums[part] = sum_of_four(column_sums[part]);
    step.group.barrier();  // join_rows() may have had the same rows
    const int j = at.column + residual_columns * warp + lane / 8;
    if (lane % 8 != 0 || j >= at.last_column()) return;
#pragma unroll
    for (int part = 0; part < parts; ++part) shared.sums[part][j - at.begin] += sums[part];
  }
  __device__ void run(ResidualWalk at) {
    for (int i = threadIdx.x; i < residual_window; i += blockDim.x)
      for (int part = 0; part < parts; ++part) shared.sums[part][i] = 0;
    T v[2][residual_columns], x[2];
    at.enter(at.lower ? 0 : at.begin);
    begin_strip(at);
#pragma unroll
    for (int half = 0; half < 2; ++half) load(v[half], x[half], at, half);
    for (int parity = 0; !at.done(); parity ^= 1) {
      ResidualWalk next = at;
      next.next();
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        use(v[half], x[half], parity, half);
        if (!next.done()) load(v[half], x[half], next, half);
      }
      step.group.barrier();
      join_rows(at, parity, at.width / residual_columns);
      if (next.column != at.column) {
        if (at.mirrored()) join_columns(at);
        begin_strip(next);
      }
      at = next;
    }
    step.group.barrier();
  }
};

// Returns the largest sum of sizes in the window's rows, 0 without sizes.
template <bool sizes, class T, class Group>
__device__ double residual_of_window(const Step<T, Group> &step, ResidualShared<T> &shared, const ResidualWalk &walk,
                                     std::int64_t r, double by, ResidualError &error) {
  ResidualProduct<T, sizes, Group> product{step, shared, r, static_cast<int>(threadIdx.x % 32),
                                           static_cast<int>(threadIdx.x / 32)};
  product.run(walk);
  double most = 0;
  for (int i = walk.begin + static_cast<int>(threadIdx.x); i < walk.end; i += blockDim.x) {
    const double diagonal = re(step.a.at(i, i)) + by;
    const T x = step.b.at(i, r);
    RowSum row;
    row.re = shared.sums[0][i - walk.begin] + diagonal * re(x);
    if constexpr (is_complex<T>) row.im = shared.sums[1][i - walk.begin] + diagonal * im(x);
    if constexpr (sizes) most = fmax(most, shared.sums[parts_of<T>][i - walk.begin] + fabs(diagonal));
    error.take(step, i, r, row);
  }
  return most;
}

template <class T, class Group>
__device__ void residual_by_tiles(const Step<T, Group> &step, ResidualShared<T> &shared) {
  const double by = step.args.numbers_in ? step.args.numbers_in[step.s] : 0;
  const int n = static_cast<int>(step.n), width = residual_columns * residual_warps(n);
  double worst = 0, norm = 0;
  for (std::int64_t r = 0; r < step.args.n_rhs; ++r) {
    ResidualError error;
    for (int begin = 0; begin < n; begin += residual_window) {
      const ResidualWalk walk{n, width, begin, min(n, begin + residual_window), step.lower()};
      if (r == 0)
        norm = fmax(norm, residual_of_window<true>(step, shared, walk, r, by, error));
      else
        residual_of_window<false>(step, shared, walk, r, by, error);
      step.group.barrier();  // the next window uses the same sums
    }
    if (r == 0) norm = norm_of_rows(step, by, norm);
    worst = error.worse_than(worst, norm, step.group);
  }
  if (step.group.lane() == 0) step.args.numbers[step.s] = worst;
}

template <class T, class Group>
__device__ void apply_residual_by_tiles(const sxt_hermitian_step_args &args, std::int64_t s, Group &group,
                                        ResidualShared<T> &shared) {
  const std::int64_t n = order_of(args, s);
  if (!passes_over<T>(args, s, n)) residual_by_tiles(step_of<T>(args, s, n, group), shared);
}

}  // namespace sextant::plugin::hermitian_steps
