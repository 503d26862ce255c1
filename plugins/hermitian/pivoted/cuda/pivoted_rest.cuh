// SPDX-License-Identifier: BSD-3-Clause
// The work after a panel: the rest is updated, a warp eight columns at a time, with the interchanges of rows and
// columns included, and the panel's columns of L are written. Traffic: the trailing triangle in and out once a panel.
#pragma once

#include "pivoted_storage.cuh"

namespace sextant::hermitian_pivoted {

#ifdef __CUDACC__

// A lane's share of -conj(L) in eight columns: column lane / 4, at column_of_step; and a 16 x 8 tile that
// takes W L^H off. The number of steps is the code's, not a condition: accumulators that are updated under a condition
// would be copied back and forth.
template <class T, int steps, bool tensor = sizeof(Real<T>) == 8>
struct Strip;

// The column of the panel that this lane takes in step i. Rows begin an odd number of elements apart in shared memory:
// reads by lanes of a row must be as far apart as there are rows whose lanes read at once, 2, 4 or 8, else they
// conflict with those of another row in a bank.
template <class T>
constexpr int apart = sizeof(T) == 16  ? 2
                      : sizeof(T) == 8 ? 4
                                       : 8;
template <class T, int steps>
__device__ int column_of_step(int i) {
  constexpr int apart = hermitian_pivoted::apart<T>;
  const int group = i / apart, inside = min(apart, steps - group * apart);
  return 4 * apart * group + inside * (threadIdx.x % 4) + i % apart;
}
// Beyond the last column any finite number serves: it is multiplied by zeros.
template <class T, int steps>
__device__ int place(int i, int width) {
  constexpr int apart = hermitian_pivoted::apart<T>;
  const int column = column_of_step<T, steps>(i);
  return (i / apart + 1) * apart < steps || column < width ? column : 0;
}

template <class T, int steps>
struct Strip<T, steps, true> {
  static constexpr int count = steps;
  double re[count], im[dense::complex_valued<T> ? count : 1];
  __device__ void set(int i, T v) {
    if constexpr (dense::complex_valued<T>)
      re[i] = -v.re, im[i] = v.im;
    else
      re[i] = -v;
  }
  // upper, lower: two rows of W.
  __device__ void add(T (&value)[4], const T *upper, const T *lower, int width) const {
    if constexpr (dense::complex_valued<T>) {
      double x[4], y[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) x[i] = value[i].re, y[i] = value[i].im;
#pragma unroll
      for (int i = 0; i < count; ++i) {
        const int k = place<T, steps>(i, width);
        const T u = upper[k], l = lower[k];
        dense::multiply_add(x, u.re, l.re, re[i]);
        dense::multiply_add(y, u.im, l.im, re[i]);
        dense::multiply_add(x, u.im, l.im, -im[i]);
        dense::multiply_add(y, u.re, l.re, im[i]);
      }
#pragma unroll
      for (int i = 0; i < 4; ++i) value[i] = {x[i], y[i]};
    } else {
#pragma unroll
      for (int i = 0; i < count; ++i) {
        const int k = place<T, steps>(i, width);
        dense::multiply_add(value, upper[k], lower[k], re[i]);
      }
    }
  }
};

template <class T, int steps>
struct Strip<T, steps, false> {
  static constexpr int count = (steps + 1) / 2 * 2;
  T right[count];
  __device__ void set(int i, T v) { right[i] = dense::difference(T{}, dense::conjugate(v)); }
  __device__ void add(T (&value)[4], const T *upper, const T *lower, int width) const {
    using dense::Split;
    float x[4], y[4];
#pragma unroll
    for (int i = 0; i < 4; ++i)
      if constexpr (dense::complex_valued<T>)
        x[i] = value[i].re, y[i] = value[i].im;
      else
        x[i] = value[i];
#pragma unroll
    for (int i = 0; i < count; i += 2) {
      const int k = place<T, count>(i, width), l = place<T, count>(i + 1, width);
      const T a[4] = {upper[k], lower[k], upper[l], lower[l]}, b[2] = {right[i], right[i + 1]};
      if constexpr (dense::complex_valued<T>) {
        const Split re[4] = {Split(a[0].re), Split(a[1].re), Split(a[2].re), Split(a[3].re)};
        const Split im[4] = {Split(a[0].im), Split(a[1].im), Split(a[2].im), Split(a[3].im)};
        const Split b_re[2] = {Split(b[0].re), Split(b[1].re)}, b_im[2] = {Split(b[0].im), Split(b[1].im)};
        const Split minus_b_im[2] = {-b_im[0], -b_im[1]};
        dense::multiply_add(x, re, b_re);
        dense::multiply_add(y, im, b_re);
        dense::multiply_add(x, im, minus_b_im);
        dense::multiply_add(y, re, b_im);
      } else {
        dense::multiply_add(x, {Split(a[0]), Split(a[1]), Split(a[2]), Split(a[3])}, {Split(b[0]), Split(b[1])});
      }
    }
#pragma unroll
    for (int i = 0; i < 4; ++i)
      if constexpr (dense::complex_valued<T>)
        value[i] = {x[i], y[i]};
      else
        value[i] = x[i];
  }
};

template <class T, int threads, bool shared>
struct Rest {
  static constexpr int far = 3;  // tiles on their way from memory
  const Storage<T, threads> &s;
  int width;

  // Element (r, i) of L below the diagonal of D.
  __device__ T left(int r, int i, int partner) const {
    const T *row = s.panel + r * s.pitch;
    return dense::plus_product(dense::scaled(row[i], s.control->own[i]), row[partner], s.control->beside[i]);
  }
  __device__ T left(int r, int i) const { return left(r, i, s.control->partner[i]); }

  // Columns of L and D, rows where they stood when each was eliminated: LAPACK's format.
  __device__ void write() const {
#pragma unroll 1
    for (int r = threadIdx.x; r < s.rows; r += threads) {
      const T *row = s.panel + r * s.pitch;
      int at = r;
      constexpr int at_once = 4;
#pragma unroll 1
      for (int i0 = 0; i0 < width; i0 += at_once) {
        const auto partners = *reinterpret_cast<const int4 *>(s.control->partner + i0);
        const auto swaps = *reinterpret_cast<const int4 *>(s.control->swapped + i0);
        int partner[at_once] = {partners.x, partners.y, partners.z, partners.w};
        const int with[at_once] = {swaps.x, swaps.y, swaps.z, swaps.w};
        T value[at_once], below[at_once];
#pragma unroll
        for (int u = 0; u < at_once; ++u) {
          const int i = min(i0 + u, width - 1);
          if (i0 + u >= width) partner[u] = i;
          value[u] = row[i], below[u] = left(r, i, partner[u]);
        }
#pragma unroll
        for (int u = 0; u < at_once; ++u) {
          const int i = i0 + u, last = max(i, partner[u]);
          if (i < width && partner[u] >= i) at = at == with[u] ? last : at == last ? with[u] : at;
          const T number = at == i                             ? dense::from_real<T>(dense::real_of(value[u]))
                           : at > partner[u] || partner[u] < i ? below[u]
                                                               : value[u];
          if (i < width && at >= i) *s.at(at, i) = number;
        }
      }
    }
    meet<threads>();
  }

  // A lane's elements of a 16 x 8 tile: rows r and r + 8, columns c and c + 1.
  struct Tile {
    T value[4];
    int rows[2];  // that stand there by now
    int flipped;  // a bit for each element that was read from the other triangle
  };
  // from: the columns that stand at c and c + 1 by now. Interchanged elements were left of the rest, where nothing is
  // written before all of it is updated. Elements outside the triangle are read, too, from the places of their mirror
  // images: a condition would make each load wait for the one before.
  __device__ void load(Tile &tile, int r, const int (&from)[2]) const {
#pragma unroll
    for (int h = 0; h < 2; ++h) tile.rows[h] = s.physical[min(r + 8 * h, s.rows - 1)];
    tile.flipped = 0;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int p = tile.rows[i >> 1], q = from[i & 1];
      tile.value[i] = *s.at(max(p, q), min(p, q));
      tile.flipped |= (p < q) << i;
    }
  }
  __device__ void store(const T (&value)[4], T *to, int r, int c) const {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int row = r + 8 * (i >> 1);
      if (row < s.rows && c + (i & 1) <= row) to[(i & 1) * s.column + (8 * (i >> 1)) * s.row] = value[i];
    }
  }

  // Asks for 16 rows of eight columns from memory, for later.
  __device__ void prefetch(int r0, int c0) const {
    const int lane = threadIdx.x % 32, r = min(r0 + lane % 8 * 2, s.rows - 1);
#pragma unroll
    for (int i = 0; i < 8; i += 4) prefetch_from_memory(s.at(r, min(c0 + lane / 8 + i, r)));
  }

  template <int steps = 1>
  __device__ void update() const {
    if constexpr (4 * steps < most_columns)
      if (4 * steps < width) return update<steps + 1>();
    const int lane = threadIdx.x % 32, last = s.rows - 1;
    for (;;) {
      int strip = lane == 0 ? atomicAdd(&s.control->strip, 1) : 0;
      strip = __shfl_sync(~0u, strip, 0);
      const int c0 = width + 8 * strip;
      if (c0 > last) break;
      const int c = c0 + lane % 4 * 2;
      const int from[2] = {s.physical[min(c, last)], s.physical[min(c + 1, last)]};
      int r = c0 + lane / 4;
      T *at = s.at(r, c);
      Tile next;
      load(next, r, from);
#pragma unroll 1
      for (int tile = 1; tile < far; ++tile) prefetch(c0 + 16 * tile, c0);
      Strip<T, steps> right;
#pragma unroll
      for (int i = 0; i < right.count; ++i) {
        const int k = column_of_step<T, right.count>(i);
        right.set(i, k < width ? left(next.rows[0], k) : T{});
      }
#pragma unroll 1
      for (; r - lane / 4 <= last; r += 16, at += 16 * s.row) {
        T value[4];
        if (r - lane / 4 + 16 * far <= last) prefetch(r - lane / 4 + 16 * far, c0);
#pragma unroll
        for (int i = 0; i < 4; ++i) value[i] = conjugate_if(next.flipped >> i & 1, next.value[i]);
        const T *const upper = s.panel + next.rows[0] * s.pitch, *const lower = s.panel + next.rows[1] * s.pitch;
        load(next, r + 16, from);
        right.add(value, upper, lower, width);
        store(value, at, r, c);
      }
    }
    meet<threads>();
  }
};

#endif  // __CUDACC__

}  // namespace sextant::hermitian_pivoted
