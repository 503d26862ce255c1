// SPDX-License-Identifier: BSD-3-Clause
// Solves with several right-hand sides: the tasks and the order of vector_kernels.cuh, in tiles of 64 rows by 16
// right-hand sides; more of them are groups beside each other, as many blocks then have work. Pieces of L, 64 x 64
// numbers each, come into shared memory while the one before them is used; f64 multiplies by the tensor cores'
// double-precision instruction, other types by multiply-adds. Bound: the memory that holds L, or arithmetic from some
// 30 right-hand sides on.
#pragma once

#include "product_kernels.cuh"
#include "sweep.cuh"

namespace sextant_cholesky_levels {

constexpr int piece_ld = solve_columns + 4;  // of a piece of L
constexpr int tile_ld = tile_columns + 4;    // of right-hand sides

template <class T>
constexpr std::size_t tile_shared() {
  const std::size_t tiles =
      sizeof(T) * static_cast<std::size_t>(solve_columns) * static_cast<std::size_t>(2 * piece_ld + 3 * tile_ld);
  const std::size_t narrow = narrow_shared<T>(narrow_group);
  return tiles > narrow ? tiles : narrow;
}

// pieces[2], known[2] and right in a block's dynamic memory; rows of known and right are neighbours' numbers.
template <class T>
struct TileMemory {
  T *begin;
  __device__ T *piece(int k) const { return begin + k % 2 * (solve_columns * piece_ld); }
  __device__ T *known(int k) const { return begin + 2 * solve_columns * piece_ld + k % 2 * (solve_columns * tile_ld); }
  __device__ T *right() const { return known(0) + 2 * solve_columns * tile_ld; }
};

__device__ __forceinline__ void wait_for_copies() { asm volatile("cp.async.wait_all;" ::: "memory"); }

// rows x columns numbers at `from` become a piece, zeros around them.
template <class T>
__device__ void copy_piece(T *to, const T *from, std::int64_t ld, int rows, int columns) {
  const int r = static_cast<int>(threadIdx.x) % solve_columns;
  for (int c = static_cast<int>(threadIdx.x) / solve_columns; c < solve_columns; c += row_shares) {
    const bool there = r < rows && c < columns;
    fetch_later(to + r + c * piece_ld, there ? from + r + c * ld : from, there);
  }
}
// The inverse of a triangle of w columns, transposed, its diagonal included, which comes from L's.
template <class T>
__device__ void copy_inverse(T *to, const T *inverse, const T *diagonal, std::int64_t ld, int w, bool unit) {
  const int r = static_cast<int>(threadIdx.x) % solve_columns;
  for (int c = static_cast<int>(threadIdx.x) / solve_columns; c < solve_columns; c += row_shares) {
    if (r == c) {
      const Real<T> pivot = r < w && !unit ? numbers::real_of(diagonal[r * (ld + 1)]) : Real<T>(1);
      to[r + c * piece_ld] = r < w ? numbers::from_real<T>(1 / pivot) : T{};
      continue;
    }
    const bool there = r < c && c < w;
    fetch_later(to + r + c * piece_ld, there ? inverse + r + c * solve_columns : inverse, there);
  }
}

// A product of a piece and a tile, spread over the block of threads.
template <class T>
struct TileSum {
  static constexpr int count = solve_columns * tile_columns / sweep_threads, across = tile_columns / 16;
  T at[count] = {};

  __device__ static int2 place(int e) {  // of at[e]: row and column
    const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
    if constexpr (std::is_same_v<T, double>)
      return {warp % 4 * 16 + lane / 4 + e / 2 % 2 * 8,
              warp / 4 * (tile_columns / 2) + e / 4 * 8 + lane % 4 * 2 + e % 2};
    else
      return {static_cast<int>(threadIdx.x) % 16 + 16 * (e / across),
              static_cast<int>(threadIdx.x) / 16 + 16 * (e % across)};
  }
  // The piece's number (r, k); transposed: (k, r), conjugated where `conjugate` says so.
  template <bool transposed, bool conjugate>
  __device__ static T entry(const T *piece, int r, int k) {
    const T x = transposed ? piece[k + r * piece_ld] : piece[r + k * piece_ld];
    return conjugate ? numbers::conjugate(x) : x;
  }
  template <bool transposed, bool conjugate>
  __device__ void add(const T *piece, const T *known) {
    if constexpr (std::is_same_v<T, double>) {
      const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
      const int g = lane / 4, q = lane % 4, r0 = warp % 4 * 16 + g, c0 = warp / 4 * (tile_columns / 2) + g;
#pragma unroll 4
      for (int k = q; k < solve_columns; k += 8) {
        double a[4];
#pragma unroll
        for (int e = 0; e < 4; ++e) a[e] = entry<transposed, false>(piece, r0 + e % 2 * 8, k + e / 2 * 4);
#pragma unroll
        for (int j = 0; j < across; ++j) {
          const double b[2] = {known[k * tile_ld + c0 + 8 * j], known[(k + 4) * tile_ld + c0 + 8 * j]};
          double(&c)[4] = *reinterpret_cast<double(*)[4]>(at + 4 * j);
          multiply_add(c, a, b);
        }
      }
    } else {
#pragma unroll 4
      for (int k = 0; k < solve_columns; ++k) {
        T a[4], b[across];
#pragma unroll
        for (int i = 0; i < 4; ++i) a[i] = entry<transposed, conjugate>(piece, place(i * across).x, k);
#pragma unroll
        for (int j = 0; j < across; ++j) b[j] = known[k * tile_ld + place(j).y];
#pragma unroll
        for (int e = 0; e < count; ++e) at[e] = numbers::plus_product(at[e], a[e / across], b[e % across]);
      }
    }
  }
};

// Rows of a tile that other tasks make: address_of(row) is the first number of a row, NULL for zeros.
template <class T, class F>
__device__ void await_rows(const Sweep<T> &v, const SweepPart<T> &s, T *to, F &&address_of) {
  constexpr int count = solve_columns * tile_columns / sweep_threads, apart = sweep_threads / tile_columns;
  const int c = static_cast<int>(threadIdx.x) % tile_columns, first = static_cast<int>(threadIdx.x) / tile_columns;
  const T *from[count];
  T seen[count];
#pragma unroll
  for (int e = 0; e < count; ++e) {
    from[e] = c < s.columns ? address_of(first + apart * e) : nullptr;
    seen[e] = from[e] ? peek(from[e] + c) : T{};
  }
#pragma unroll
  for (int e = 0; e < count; ++e)
    to[(first + apart * e) * tile_ld + c] = from[e] ? await(v, from[e] + c, seen[e]) : T{};
}

// ---- forwards -----------------------------------------------------------------------------------------------------

// Rows begin .. end-1 of a front's vectors, at most 64.
template <class T>
__device__ void gather_tile(const Sweep<T> &v, const SweepPart<T> &s, const Front &f, int begin, int end, T *right,
                            const int *first_rows) {
  constexpr int apart = sweep_threads / tile_columns;
  const int c = static_cast<int>(threadIdx.x) % tile_columns, first = static_cast<int>(threadIdx.x) / tile_columns;
  for (int r = first; r < solve_columns; r += apart)
    right[r * tile_ld + c] =
        c < s.columns && r < end - begin && begin + r < f.width ? right_side(v, s, f.first + begin + r, c) : T{};
  __syncthreads();  // also for first_rows
  for (int k = f.child_begin; k < f.child_end; ++k) {
    for (int index = first; index < solve_columns; index += apart) {
      const Handed<T> mine = handed_row(v, s, f, k, begin, end, first_rows, index);
      if (mine.row < 0) break;
      if (c >= s.columns) continue;
      T &number = right[(mine.row - begin) * tile_ld + c];
      number = numbers::sum(number, await(v, mine.at + c));
    }
    __syncthreads();
  }
}

// Columns begin .. end-1 of a front, or rows below its columns.
template <class T>
__device__ void forward_tile(const Sweep<T> &v, const SweepPart<T> &s, const Front &f, int begin, int end,
                             const TileMemory<T> &m, int *first_rows) {
  using Sum = TileSum<T>;
  const T *const block = s.l + f.value_at;
  const std::int64_t ld = f.rows;
  const bool columns = begin < f.width, inverts = columns && f.factored;
  const int before = f.factored ? min(begin, f.width) : 0, pieces = (before + solve_columns - 1) / solve_columns;
  const auto copy = [&](int k) {
    if (k < pieces)
      copy_piece(m.piece(k), block + begin + k * solve_columns * ld, ld, end - begin,
                 min(solve_columns, before - k * solve_columns));
    else if (k == pieces && inverts)
      copy_inverse(m.piece(k), s.inverses + inverse_place(f, begin), block + begin * (ld + 1), ld, end - begin, v.unit);
  };
  copy(0);
  find_first_rows(v, f, begin, first_rows);
  T *const right = m.right();
  gather_tile<T>(v, s, f, begin, end, right, first_rows);
  Sum sum;
  for (int k = 0; k < pieces; ++k) {
    await_rows<T>(v, s, m.known(k), [&](int r) -> const T * {
      const int row = k * solve_columns + r;
      return row < before ? s.y + static_cast<std::int64_t>(f.first + row) * v.columns : nullptr;
    });
    wait_for_copies();
    __syncthreads();
    copy(k + 1);
    sum.template add<false, false>(m.piece(k), m.known(k));
  }
#pragma unroll
  for (int e = 0; e < Sum::count; ++e) {
    const int2 at = Sum::place(e);
    T &number = right[at.x * tile_ld + at.y];
    number = numbers::difference(number, sum.at[e]);
    sum.at[e] = inverts ? T{} : number;
  }
  wait_for_copies();
  __syncthreads();
  if (inverts) sum.template add<true, false>(m.piece(pieces), right);
  T *const to = columns ? s.y + static_cast<std::int64_t>(f.first + begin) * v.columns
                        : s.vectors + (f.row_at + begin) * v.columns;
#pragma unroll
  for (int e = 0; e < Sum::count; ++e) {
    const int2 at = Sum::place(e);
    if (at.x < end - begin && at.y < s.columns) publish(to + at.x * v.columns + at.y, sum.at[e]);
  }
  __syncthreads();  // the memory is read
}

template <class T>
__global__ void __launch_bounds__(sweep_threads) forward_tiles(Sweep<T> v) {
  __shared__ int first_rows[first_rows_kept];
  const TileMemory<T> m{dynamic_memory<T>()};
  Task t;
  SweepPart<T> s;
  while (next_task(v, t, s)) {
    if (t.front < 0)
      narrow_task<T, narrow_group, true>(v, s, t, m.begin);
    else
      forward_tile<T>(v, s, v.fronts[t.front], t.begin, t.end, m, first_rows);
  }
}

// ---- backwards ----------------------------------------------------------------------------------------------------

template <class T>
__device__ void backward_tile(const Sweep<T> &v, const SweepPart<T> &s, const Front &f, const Task &t,
                              const TileMemory<T> &m) {
  using Sum = TileSum<T>;
  const T *const block = s.l + f.value_at;
  const std::int64_t ld = f.rows;
  const int w = t.end - t.begin, below = (f.rows - f.width + solve_columns - 1) / solve_columns;
  const int pieces = f.factored ? below + (f.width - t.end + solve_columns - 1) / solve_columns : 0;
  const auto rows_of = [&](int k) -> int2 {
    const int begin = k < below ? f.width + (below - 1 - k) * solve_columns : t.end + (pieces - 1 - k) * solve_columns;
    return {begin, min(begin + solve_columns, k < below ? f.rows : f.width)};
  };
  const auto copy = [&](int k) {
    if (k < pieces)
      copy_piece(m.piece(k), block + rows_of(k).x + t.begin * ld, ld, rows_of(k).y - rows_of(k).x, w);
    else if (k == pieces && f.factored)
      copy_inverse(m.piece(k), s.inverses + inverse_place(f, t.begin), block + t.begin * (ld + 1), ld, w, v.unit);
  };
  copy(0);
  Sum sum;
  for (int k = 0; k < pieces; ++k) {
    const int2 rows = rows_of(k);
    await_rows<T>(v, s, m.known(k), [&](int r) -> const T * {
      return rows.x + r < rows.y ? s.z + static_cast<std::int64_t>(v.rows[f.row_at + rows.x + r]) * v.columns : nullptr;
    });
    wait_for_copies();
    __syncthreads();
    copy(k + 1);
    sum.template add<true, true>(m.piece(k), m.known(k));
  }
  T *const right = m.right();
#pragma unroll
  for (int e = 0; e < Sum::count; ++e) {
    const int2 at = Sum::place(e);
    const bool there = at.x < w && at.y < s.columns;
    const T number = there ? numbers::difference(begin_backward(v, s, f, t.begin + at.x, at.y), sum.at[e]) : T{};
    right[at.x * tile_ld + at.y] = number;
    sum.at[e] = f.factored ? T{} : number;
  }
  wait_for_copies();
  __syncthreads();
  if (f.factored) sum.template add<false, true>(m.piece(pieces), right);
#pragma unroll
  for (int e = 0; e < Sum::count; ++e) {
    const int2 at = Sum::place(e);
    if (at.x < w && at.y < s.columns) give_solution(v, s, f.first + t.begin + at.x, at.y, sum.at[e]);
  }
  __syncthreads();  // the memory is read
}

template <class T>
__global__ void __launch_bounds__(sweep_threads) backward_tiles(Sweep<T> v) {
  const TileMemory<T> m{dynamic_memory<T>()};
  Task t;
  SweepPart<T> s;
  while (next_task(v, t, s)) {
    if (t.front < 0)
      narrow_task<T, narrow_group, false>(v, s, t, m.begin);
    else
      backward_tile<T>(v, s, v.fronts[t.front], t, m);
  }
}

}  // namespace sextant_cholesky_levels
