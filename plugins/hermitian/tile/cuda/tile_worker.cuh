// SPDX-License-Identifier: BSD-3-Clause
// The threads that work on one system: `warps` warps, 16 columns at a time, looking left. Warps sum products of
// finished blocks for the block column, the first warp eliminates the diagonal block meanwhile, then a thread a row
// solves with it. Right-hand sides are further rows (their conjugates), so that L y = b costs no further pass. A single
// one is carried as a vector instead.
#pragma once

#include "tile_blocks.cuh"

namespace sextant::hermitian_tile {

// Shared memory of one system: this, then blocks, then right-hand sides, then 1 / L(j, j) of every column.
template <class T>
struct alignas(16) Control {
  T column[2][side];  // the diagonal block's pivot column
  int code;           // info
};

// Blocks the back substitution needs: a block column, twice where that fits in the memory of the elimination.
inline int panels_at_once(int rows, const Places &places) { return places.count >= 2 * rows ? 2 : 1; }

// All but the blocks.
template <class T>
constexpr std::size_t vector_bytes(int rows, std::int64_t n_rhs) {
  return sizeof(Control<T>) + static_cast<std::size_t>(rows) * side * (n_rhs * sizeof(T) + sizeof(Real<T>));
}
template <class T>
constexpr std::size_t shared_bytes(int rows, const Places &places, std::int64_t n_rhs) {
  const int blocks = places.count > rows ? places.count : rows;
  return (vector_bytes<T>(rows, n_rhs) + static_cast<std::size_t>(blocks) * block_size * sizeof(T) + 15) / 16 * 16;
}

#ifdef __CUDACC__

template <class T>
__device__ __forceinline__ void copy_async(T *to, const T *from) {
  const auto place = static_cast<unsigned>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(place), "l"(from), "n"(sizeof(T)) : "memory");
}
__device__ __forceinline__ void copies_end() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// Waits for the calling thread's copies, but for those of the last `left` groups.
template <int left>
__device__ __forceinline__ void copies_arrive() {
  asm volatile("cp.async.wait_group %0;" ::"n"(left) : "memory");
}

// Loads and stores in device memory: the compiler could not distinguish these addresses from shared memory.
__device__ __forceinline__ float load_global(const float *from) {
  float x;
  asm("ld.global.f32 %0, [%1];" : "=f"(x) : "l"(from));
  return x;
}
__device__ __forceinline__ double load_global(const double *from) {
  double x;
  asm("ld.global.f64 %0, [%1];" : "=d"(x) : "l"(from));
  return x;
}
__device__ __forceinline__ dense::Complex<float> load_global(const dense::Complex<float> *from) {
  dense::Complex<float> x;
  asm("ld.global.v2.f32 {%0, %1}, [%2];" : "=f"(x.re), "=f"(x.im) : "l"(from));
  return x;
}
__device__ __forceinline__ dense::Complex<double> load_global(const dense::Complex<double> *from) {
  dense::Complex<double> x;
  asm("ld.global.v2.f64 {%0, %1}, [%2];" : "=d"(x.re), "=d"(x.im) : "l"(from));
  return x;
}
__device__ __forceinline__ void store_global(float *to, float x) {
  asm volatile("st.global.f32 [%0], %1;" ::"l"(to), "f"(x) : "memory");
}
__device__ __forceinline__ void store_global(double *to, double x) {
  asm volatile("st.global.f64 [%0], %1;" ::"l"(to), "d"(x) : "memory");
}
__device__ __forceinline__ void store_global(dense::Complex<float> *to, dense::Complex<float> x) {
  asm volatile("st.global.v2.f32 [%0], {%1, %2};" ::"l"(to), "f"(x.re), "f"(x.im) : "memory");
}
__device__ __forceinline__ void store_global(dense::Complex<double> *to, dense::Complex<double> x) {
  asm volatile("st.global.v2.f64 [%0], {%1, %2};" ::"l"(to), "d"(x.re), "d"(x.im) : "memory");
}

// A diagonal block by substitution: a lane an unknown (the first 16; the others only take part in exchanges), the
// unknowns conjugated. They stay unscaled until the end: the factors are scaled instead, each before its use, so that
// between two unknowns there is one exchange and one product.
template <bool back, class T>
__device__ __forceinline__ T substitute(const T *diagonal, const Real<T> *inverse, T value, int lane) {
  const int c = lane % side;
  const auto factor = [&](int i) {
    const int j = back ? side - 1 - i : i;
    return dense::scaled(back ? diagonal[offset<T>(j, c)] : dense::conjugate(diagonal[offset<T>(c, j)]), inverse[j]);
  };
  T next = factor(0);
#pragma unroll 3
  for (int i = 0; i + 1 < side; ++i) {
    const int j = back ? side - 1 - i : i;
    const T by = next, solved = dense::from_lane(~0u, value, j);
    next = factor(i + 1);
    if (back ? c < j : c > j) value = dense::minus_product(value, by, solved);
  }
  return dense::scaled(value, inverse[c]);
}

// carries: one right-hand side is carried as a vector; else they are further rows.
template <class T, int warps, bool carries>
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

  // A lane's elements of block (r, q) of A; beyond the order the identity, which eliminates to itself. All are loaded
  // before the first is used: where there is none, the nearest one is read.
  __device__ void load_block(int r, int q, T (&value)[8]) const {
    const int last = system.n - 1;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const int row = min(r * side + dense::row_of(i, lane), last);
      value[i] = load_global(system.at(row, min(q * side + dense::column_of(i, lane), row)));
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

  // Block row r of block column q (beyond the last row: right-hand sides), less the contributions of finished columns.
  __device__ void sum_block(int r, int q) const {
    const bool right = !carries && r >= rows;
    const int first = (r - rows) * side;  // first right-hand side of the block
    T value[8];
    if (right)
      load_right_block(q, first, value);
    else
      load_block(r, q, value);
    dense::Product<T> product;
#pragma unroll 1
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
  // only, so that only a reciprocal separates one pivot from the next.
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
    const int code = dense::judge_quick_pivot(pivot, r);
    const unsigned bad = __ballot_sync(~0u, code != 0) & 0xffff;
    const int first_bad = __shfl_sync(~0u, code, bad ? __ffs(bad) - 1 : 0);
    if (lane == 0) control->code = first_bad;
    const Real<T> root = rsqrt(pivot);
    if (half == 0) inverse[r] = root;
    __syncwarp();
    T *const out = system.at(r, q * side);
#pragma unroll
    for (int i = 0; i < side / 2; ++i) {
      const int c = 2 * i + half;
      const T value = c == row ? dense::from_real<T>(pivot * root) : dense::scaled(held[i], inverse[q * side + c]);
      if (c <= row) mine[offset<T>(row, c)] = value;
      if (c <= row && r < system.n) store_global(out + c * system.column, value);
    }
  }

  // Whether solving the rows below leaves a thread for the right-hand side that is carried.
  __device__ bool right_is_a_row(int q) const { return carries && (rows - q - 1) * side % threads != 0; }
  // Rows below the diagonal block and right-hand sides: x L(q, q)^H = x, a thread a row.
  __device__ void solve_rows(int q) const {
    const T *diagonal = block(q, q);
    const int below = (rows - q - 1) * side;
    for (int e = id; e < below + (carries ? right_is_a_row(q) : system.n_rhs); e += threads) {
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
      for (int k = 0; k < side; ++k) from[right ? k * system.n_rhs : offset<T>(row, k)] = x[k];
      if (right || r >= system.n) continue;
      T *const out = system.at(r, q * side);
#pragma unroll
      for (int k = 0; k < side; ++k) store_global(out + k * system.column, x[k]);
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

  // The carried right-hand side, by the last warp, which has least work.
  __device__ bool carrier() const { return carries && warp == warps - 1; }
  __device__ void fetch_right() const {
    for (int e = lane; e < rows * side; e += 32)
      if (e < system.n)
        copy_async(&rhs[e], &system.b[static_cast<std::int64_t>(e) * system.b_row]);
      else
        rhs[e] = T{};
    copies_end();
  }
  // Unknowns q, less the contributions of finished ones: two lanes an unknown.
  __device__ void sum_right(int q) const {
    const int c = lane % side, half = lane / side;
    copies_arrive<0>();
    __syncwarp();
    T &place = rhs[q * side + c], total{}, other{};
#pragma unroll 1
    for (int p = 0; p < q; ++p) {
      const T *factor = block(q, p);
#pragma unroll
      for (int i = 0; i < side; i += 4) {
        const int k = i + half, l = k + 2;
        total = dense::plus_product(total, rhs[p * side + k], dense::conjugate(factor[offset<T>(c, k)]));
        other = dense::plus_product(other, rhs[p * side + l], dense::conjugate(factor[offset<T>(c, l)]));
      }
    }
    total = dense::sum(total, other);
    total = dense::sum(total, dense::from_lane_xor(~0u, total, side));
    const T first = system.conjugate_b ? place : dense::conjugate(place);
    __syncwarp();
    if (half == 0) place = dense::difference(first, total);
  }
  // L y = b for unknowns q.
  __device__ void solve_right(int q) const {
    const int c = lane % side, half = lane / side;
    const T value = substitute<false>(block(q, q), inverse + q * side, half == 0 ? rhs[q * side + c] : T{}, lane);
    __syncwarp();
    if (half == 0) rhs[q * side + c] = value;
  }

  // L L^H = A and L y = b; the code for info.
  __device__ int factor() const {
    const int all_rows = rows + (carries ? 0 : (system.n_rhs + side - 1) / side);
    if (carrier()) fetch_right();
    if (rows > 1) prefetch();
      // The compiler would peel off the first column: twice the code.
#pragma unroll 1
    for (int q = 0; q < rows; ++q) {
      // The first warp is busy with the diagonal block: the others share the rows below.
#pragma unroll 1
      for (int r = q + warp; r < all_rows; r += warps == 1 ? 1 : warps - 1) {
        sum_block(r, q);
        if (r > q) continue;
        eliminate_diagonal(q);
        if (warps > 1) break;
      }
      if (carrier()) sum_right(q);
      meet();
      if (control->code != 0) return control->code;
      solve_rows(q);
      if (carrier() && !right_is_a_row(q)) solve_right(q);
      meet();
    }
    return 0;
  }
};

#endif  // __CUDACC__

}  // namespace sextant::hermitian_tile
