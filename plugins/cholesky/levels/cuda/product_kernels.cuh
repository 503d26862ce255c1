// SPDX-License-Identifier: BSD-3-Clause
// Products of large fronts: columns c0 .. c1-1 and rows from c0 on lose L(rows, k0 .. k1-1) L(columns, k0 .. k1-1)^H
// (in L D L^H with D between them), in square tiles on and below the diagonal. f64 goes by the tensor cores'
// double-precision instruction, f32 by their TF32 one where the launch says so, both in tiles of 64 or 128; the rest by
// multiply-adds in tiles of 64. Bound: arithmetic; a tile of 128 reads 1/64 number an operation pair.
#pragma once

#include "numbers.cuh"

namespace sextant_cholesky_levels {

// Tile (row, column) of a job's tiles: those of the triangle row by row, then whole rows of tiles.
__device__ inline int2 tile_of(int index, int across) {
  const int triangle = across * (across + 1) / 2;
  if (index >= triangle) return {across + (index - triangle) / across, (index - triangle) % across};
  int i = static_cast<int>((sqrtf(8.0f * static_cast<float>(index) + 1) - 1) / 2);
  while (i * (i + 1) / 2 > index) --i;
  while ((i + 1) * (i + 2) / 2 <= index) ++i;
  return {i, index - i * (i + 1) / 2};
}

// Where a tile reads and writes.
template <class T>
struct Tile {
  const T *left, *right;  // column k0 at the tile's first row, and at the row that is its first column
  T *to;                  // its first number
  std::int64_t ld, ld_to;
  int rows, columns, depth;  // that there are
  bool diagonal;
  const T *weights;  // the diagonal's number of column k0, which is D's in L D L^H; others lie ld + 1 apart
  __device__ Real<T> weight(int k) const { return k < depth ? numbers::real_of(weights[k * (ld + 1)]) : Real<T>(0); }
};

template <class T>
__device__ Tile<T> tile_here(const Numbers<T> &v, const Call<T> &call, const Job &job, int size) {
  const Front f = v.fronts[job.front];
  const int2 at = tile_of(static_cast<int>(blockIdx.x) - job.first_block, (job.c1 - job.c0 + size - 1) / size);
  const int i0 = job.c0 + at.x * size, j0 = job.c0 + at.y * size;
  T *const l = call.l + f.value_at;
  const T *const k0 = l + static_cast<std::int64_t>(job.k0) * f.rows;
  const std::int64_t below = f.rows - f.width;
  const bool inside = job.c0 < f.width;
  return {k0 + i0,
          k0 + j0,
          inside ? l + i0 + static_cast<std::int64_t>(j0) * f.rows
                 : v.update(f) + (i0 - f.width) + static_cast<std::int64_t>(j0 - f.width) * below,
          f.rows,
          inside ? f.rows : below,
          min(size, f.rows - i0),
          min(size, job.c1 - j0),
          job.k1 - job.k0,
          at.x == at.y,
          k0 + job.k0};
}

// ---- any type ----------------------------------------------------------------------------------------------------

constexpr int product_threads = 256, product_depth = 16;

// A thread takes four rows and four columns, 16 apart.
template <class T, bool weighted>
__global__ void __launch_bounds__(product_threads) subtract_products(Numbers<T> v, const Job *jobs, int count) {
  __shared__ T left[product_depth][tile + 1], right[product_depth][tile + 1];
  const Job job = job_of_block(jobs, count);
  const Call<T> call = call_here(v);
  if (!call.l) return;
  const Tile<T> t = tile_here(v, call, job, tile);
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  T sum[4][4] = {};
  for (int k0 = 0; k0 < t.depth; k0 += product_depth) {
    for (int e = threadIdx.x; e < tile * product_depth; e += product_threads) {
      const int r = e % tile, k = e / tile;
      const std::int64_t at = r + (k0 + k) * t.ld;
      left[k][r] = r < t.rows && k0 + k < t.depth ? t.left[at] : T{};
      right[k][r] = r < t.columns && k0 + k < t.depth ? numbers::conjugate(t.right[at]) : T{};
      if (weighted) right[k][r] = numbers::scaled(right[k][r], t.weight(k0 + k));
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < product_depth; ++k)
#pragma unroll
      for (int a = 0; a < 4; ++a)
#pragma unroll
        for (int b = 0; b < 4; ++b)
          sum[a][b] = numbers::plus_product(sum[a][b], left[k][tx + 16 * a], right[k][ty + 16 * b]);
    __syncthreads();
  }
#pragma unroll
  for (int b = 0; b < 4; ++b) {
    const int c = ty + 16 * b;
    T old[4];
#pragma unroll
    for (int a = 0; a < 4; ++a) old[a] = t.to[min(tx + 16 * a, t.rows - 1) + min(c, t.columns - 1) * t.ld_to];
#pragma unroll
    for (int a = 0; a < 4; ++a) {
      const int r = tx + 16 * a;
      if (r < t.rows && c < t.columns && (!t.diagonal || r >= c))
        t.to[r + c * t.ld_to] = numbers::difference(old[a], sum[a][b]);
    }
  }
}

// ---- f64 and f32 on tensor cores ---------------------------------------------------------------------------------

// f32: a number is split in two of TF32's 11 significant bits each, whose products but the one of both low halves are
// added, the small ones first (three products keep the accuracy of multiply-adds); or rounded to 11 bits (one product).
enum class Products { f64 = 0, one = 1, three = 3 };

constexpr int mma_depth = 16, mma_stages = 3;

// Numbers between two columns: a warp's reads of 4 columns and 8 rows meet no bank twice.
template <class T>
constexpr int mma_ld(int size) {
  return size + (sizeof(T) == 8 ? 4 : 8);
}
template <class T>
constexpr std::size_t mma_shared(int size) {
  return sizeof(T) * mma_stages * 2 * mma_depth * static_cast<std::size_t>(mma_ld<T>(size));
}

// c (16 x 8) += a (16 x 8) b (8 x 8), spread over a warp: lane 4 g + t has a's rows g and g + 8, columns t and t + 4;
// b's rows t and t + 4, column g; c's rows g and g + 8, columns 2 t and 2 t + 1.
__device__ __forceinline__ void multiply_add(double (&c)[4], const double (&a)[4], const double (&b)[2]) {
#if __CUDA_ARCH__ >= 900
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
               : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
#elif defined(__CUDA_ARCH__)
#pragma unroll
  for (int k = 0; k < 2; ++k)
#pragma unroll
    for (int half = 0; half < 2; ++half)
      asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
                   : "+d"(c[2 * half]), "+d"(c[2 * half + 1])
                   : "d"(a[2 * k + half]), "d"(b[k]));
#endif
}
__device__ __forceinline__ void multiply_add(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
#ifdef __CUDA_ARCH__
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
}

// Some numbers as TF32: rounded to nearest, and what that leaves. Integer arithmetic: the conversion instruction runs
// at a quarter of its rate.
template <int count>
struct SplitNumbers {
  unsigned high[count], low[count];
  __device__ __forceinline__ explicit SplitNumbers(const float (&x)[count]) {
#pragma unroll
    for (int e = 0; e < count; ++e) {
      high[e] = (__float_as_uint(x[e]) + 0x1000u) & 0xffffe000u;
      low[e] = __float_as_uint(x[e] - __uint_as_float(high[e]));
    }
  }
};

// sum[i][j] += a[i] b[j]. Instructions on one accumulator wait for one another: neighbours take turns.
template <Products, int m, int n>
__device__ __forceinline__ void add_products(double (&sum)[m][n][4], const double (&a)[m][4], const double (&b)[n][2]) {
#pragma unroll
  for (int i = 0; i < m; ++i)
#pragma unroll
    for (int j = 0; j < n; ++j) multiply_add(sum[i][j], a[i], b[j]);
}
template <Products products, int m, int n>
__device__ __forceinline__ void add_products(float (&sum)[m][n][4], const float (&a)[m][4], const float (&b)[n][2]) {
  unsigned high[n][2], low[n][2];
#pragma unroll
  for (int j = 0; j < n; ++j) {
    const SplitNumbers<2> split(b[j]);
#pragma unroll
    for (int e = 0; e < 2; ++e) high[j][e] = split.high[e], low[j][e] = split.low[e];
  }
#pragma unroll
  for (int i = 0; i < m; ++i) {
    const SplitNumbers<4> split(a[i]);
    if constexpr (products == Products::three) {
#pragma unroll
      for (int j = 0; j < n; ++j) multiply_add(sum[i][j], split.low, high[j]);
#pragma unroll
      for (int j = 0; j < n; ++j) multiply_add(sum[i][j], split.high, low[j]);
    }
#pragma unroll
    for (int j = 0; j < n; ++j) multiply_add(sum[i][j], split.high, high[j]);
  }
}

// One number into shared memory, or zero, while the block goes on.
template <class T>
__device__ __forceinline__ void fetch_later(T *to, const T *from, bool there) {
  const auto address = static_cast<unsigned>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(address), "l"(from), "n"(sizeof(T)),
               "r"(there ? static_cast<int>(sizeof(T)) : 0)
               : "memory");
}
__device__ __forceinline__ void end_of_stage() { asm volatile("cp.async.commit_group;" ::: "memory"); }
__device__ __forceinline__ void wait_for_stage() {
  asm volatile("cp.async.wait_group %0;" ::"n"(mma_stages - 2) : "memory");
}

// A thread's part of both operands: one row of each, every rows_apart-th column. Rows beyond the matrix repeat its last
// one: what they give is never stored.
template <class T, int size, int threads>
struct Operands {
  static constexpr int ld = mma_ld<T>(size), rows_apart = threads / size;
  static_assert(threads % size == 0 && mma_depth % rows_apart == 0);
  const T *left, *right;
  std::int64_t step;  // to the next column that is this thread's
  int first, depth;

  __device__ explicit Operands(const Tile<T> &t) {
    const int r = static_cast<int>(threadIdx.x) % size;
    first = static_cast<int>(threadIdx.x) / size;
    left = t.left + min(r, t.rows - 1) + first * t.ld, right = t.right + min(r, t.columns - 1) + first * t.ld;
    step = rows_apart * t.ld, depth = t.depth;
  }
  // The next mma_depth columns, from column k0 on; zeros behind the last one.
  __device__ __forceinline__ void fetch(int k0, T *to_left, T *to_right) {
    const int r = static_cast<int>(threadIdx.x) % size;
    to_left += r + first * ld, to_right += r + first * ld;
    if (k0 + mma_depth <= depth) {
#pragma unroll
      for (int k = 0; k < mma_depth / rows_apart; ++k) {
        fetch_later(to_left + k * rows_apart * ld, left, true),
            fetch_later(to_right + k * rows_apart * ld, right, true);
        left += step, right += step;
      }
      return;
    }
    for (int k = 0; k < mma_depth / rows_apart; ++k) {
      const bool there = k0 + first + k * rows_apart < depth;
      fetch_later(to_left + k * rows_apart * ld, left, there);
      fetch_later(to_right + k * rows_apart * ld, right, there);
      if (k0 + first + (k + 1) * rows_apart < depth) left += step, right += step;
    }
  }
};

// Asks for the tile's old numbers, so that they are near when the products are ready: a thread a line of 128 bytes.
template <int size, int threads, class T>
__device__ void prefetch(const Tile<T> &t) {
  constexpr int in_line = 128 / sizeof(T), lines = size / in_line;
  for (int e = threadIdx.x; e < lines * t.columns; e += threads) {
    const T *const at = t.to + min(e % lines * in_line, t.rows - 1) + e / lines * t.ld_to;
    asm volatile("prefetch.global.L2 [%0];" ::"l"(at));
  }
}

// Takes a warp's products off its part of the tile. All old numbers are asked for before the first is needed.
template <class T, int m, int n>
__device__ void subtract(const Tile<T> &t, int size, int r0, int c0, const T (&sum)[m][n][4]) {
  T *const to = t.to + r0 + static_cast<std::int64_t>(c0) * t.ld_to;
  if (t.rows == size && t.columns == size && !t.diagonal) {
#pragma unroll
    for (int j = 0; j < n; ++j) {
      T old[m][4];
#pragma unroll
      for (int i = 0; i < m; ++i)
#pragma unroll
        for (int e = 0; e < 4; ++e) old[i][e] = to[16 * i + e / 2 * 8 + (8 * j + e % 2) * t.ld_to];
#pragma unroll
      for (int i = 0; i < m; ++i)
#pragma unroll
        for (int e = 0; e < 4; ++e) to[16 * i + e / 2 * 8 + (8 * j + e % 2) * t.ld_to] = old[i][e] - sum[i][j][e];
    }
    return;
  }
#pragma unroll
  for (int j = 0; j < n; ++j) {
    T old[m][4];
    const auto each = [&](auto &&f) {
#pragma unroll
      for (int i = 0; i < m; ++i)
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          const int r = 16 * i + e / 2 * 8, c = 8 * j + e % 2;
          if (r0 + r < t.rows && c0 + c < t.columns && (!t.diagonal || r0 + r >= c0 + c))
            f(old[i][e], to[r + c * t.ld_to], sum[i][j][e]);
        }
    };
    each([](T &kept, const T &place, T) { kept = place; });
    each([](T &kept, T &place, T product) { place = kept - product; });
  }
}

// A warp takes warp_rows x warp_columns of a tile of size x size.
template <class T, Products products, int size, int warp_rows, int warp_columns, bool weighted>
__global__ void __launch_bounds__(size / warp_rows * size / warp_columns * 32)
    subtract_products_mma(Numbers<T> v, const Job *jobs, int count) {
  constexpr int warps_down = size / warp_rows, threads = warps_down * (size / warp_columns) * 32;
  constexpr int ld = mma_ld<T>(size), m = warp_rows / 16, n = warp_columns / 8;
  T *const memory = dynamic_memory<T>();
  const Job job = job_of_block(jobs, count);
  const Call<T> call = call_here(v);
  if (!call.l) return;
  const Tile<T> t = tile_here(v, call, job, size);
  const int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, q = threadIdx.x % 4;
  const int r0 = warp % warps_down * warp_rows, c0 = warp / warps_down * warp_columns;
  const auto left = [&](int stage) { return memory + stage % mma_stages * (2 * mma_depth * ld); };
  const auto right = [&](int stage) { return left(stage) + mma_depth * ld; };
  const int stages = (t.depth + mma_depth - 1) / mma_depth;
  Operands<T, size, threads> operands(t);
  T sum[m][n][4] = {};
#pragma unroll
  for (int stage = 0; stage < mma_stages - 1; ++stage) {
    if (stage < stages) operands.fetch(stage * mma_depth, left(stage), right(stage));
    end_of_stage();
  }
  prefetch<size, threads>(t);
  for (int stage = 0; stage < stages; ++stage) {
    wait_for_stage();
    __syncthreads();
    const int next = stage + mma_stages - 1;
    if (next < stages) operands.fetch(next * mma_depth, left(next), right(next));
    end_of_stage();
    const T *const a_from = left(stage) + r0 + g, *const b_from = right(stage) + c0 + g;
#pragma unroll
    for (int k = 0; k < mma_depth; k += 8) {
      T a[m][4], b[n][2];
#pragma unroll
      for (int i = 0; i < m; ++i)
#pragma unroll
        for (int e = 0; e < 4; ++e) a[i][e] = a_from[16 * i + e % 2 * 8 + (k + q + e / 2 * 4) * ld];
#pragma unroll
      for (int j = 0; j < n; ++j)
#pragma unroll
        for (int e = 0; e < 2; ++e) b[j][e] = b_from[8 * j + (k + q + e * 4) * ld];
      if constexpr (weighted) {
        const T weight[2] = {t.weight(stage * mma_depth + k + q), t.weight(stage * mma_depth + k + q + 4)};
#pragma unroll
        for (int j = 0; j < n; ++j) b[j][0] *= weight[0], b[j][1] *= weight[1];
      }
      add_products<products>(sum, a, b);
    }
  }
  subtract(t, size, r0 + g, c0 + 2 * q, sum);
}

}  // namespace sextant_cholesky_levels
