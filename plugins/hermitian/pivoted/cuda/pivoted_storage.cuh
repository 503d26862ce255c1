// SPDX-License-Identifier: BSD-3-Clause
// A block's data of the system it eliminates, and its search for the largest of many numbers.
#pragma once

#include "pivoted_range.hpp"
#include "plugins/hermitian/shared/cuda/dense_product.hpp"

namespace sextant::hermitian_pivoted {

namespace dense = sextant::plugin::cuda::dense;
using dense::one_over_power, dense::Real;

constexpr int most_columns = 32;  // of a panel
constexpr int most_rows = 32000;  // rows and positions are counted in 16 bits

// Bytes beside the panel: where rows stand, twice; and a column, in whose place a panel in shared memory may begin.
constexpr SXT_DENSE_BOTH std::size_t numbers_bytes(int n) { return (static_cast<std::size_t>(n) + 3) / 2 * 16; }
template <class T>
constexpr SXT_DENSE_BOTH std::size_t beside_panel(int n, bool shared) {
  return numbers_bytes(n) + (shared ? 0 : (n * sizeof(T) + 15) / 16 * 16);
}

#ifdef __CUDACC__

// A size that is not negative, by its bits, which compare as it does (and NaN above all), and its place: the position
// in the upper half, the row in the lower one. Of equals the first position counts.
template <class R>
struct Found;
template <>
struct alignas(16) Found<double> {
  unsigned long long bits;
  unsigned key;
  __device__ void offer(double size, unsigned by) {
    const unsigned long long mine = static_cast<unsigned long long>(__double_as_longlong(size)) & (~0ull >> 1);
    if (mine > bits || (mine == bits && by < key)) bits = mine, key = by;
  }
  __device__ double size() const { return __longlong_as_double(static_cast<long long>(bits)); }
  __device__ int row() const { return static_cast<int>(key & 0xffff); }
  __device__ int place() const { return static_cast<int>(key >> 16); }
};
template <>
struct alignas(8) Found<float> {
  unsigned bits, key;
  __device__ void offer(float size, unsigned by) {
    const unsigned mine = __float_as_uint(size) & (~0u >> 1);
    if (mine > bits || (mine == bits && by < key)) bits = mine, key = by;
  }
  __device__ float size() const { return __uint_as_float(bits); }
  __device__ int row() const { return static_cast<int>(key & 0xffff); }
  __device__ int place() const { return static_cast<int>(key >> 16); }
};
template <class R>
__device__ Found<R> larger(Found<R> a, Found<R> b) {
  return b.bits > a.bits || (b.bits == a.bits && b.key < a.key) ? b : a;
}

// The lane that has the warp's largest; mostly the upper halves decide.
__device__ inline int lane_of_largest(const Found<double> &a) {
  const unsigned high = static_cast<unsigned>(a.bits >> 32), most = __reduce_max_sync(~0u, high);
  unsigned who = __ballot_sync(~0u, high == most);
  if (__popc(who) > 1) {
    const unsigned low = high == most ? static_cast<unsigned>(a.bits) : 0, rest = __reduce_max_sync(~0u, low);
    const bool equal = high == most && low == rest;
    const unsigned key = equal ? a.key : ~0u, least = __reduce_min_sync(~0u, key);
    who = __ballot_sync(~0u, equal && a.key == least);
  }
  return __ffs(who) - 1;
}
__device__ inline int lane_of_largest(const Found<float> &a) {
  const unsigned most = __reduce_max_sync(~0u, a.bits);
  unsigned who = __ballot_sync(~0u, a.bits == most);
  if (__popc(who) > 1) {
    const bool equal = a.bits == most;
    const unsigned key = equal ? a.key : ~0u, least = __reduce_min_sync(~0u, key);
    who = __ballot_sync(~0u, equal && a.key == least);
  }
  return __ffs(who) - 1;
}

template <int threads>
__device__ void meet() {
  if constexpr (threads == 32)
    __syncwarp();
  else
    __syncthreads();
}

// The block's largest, for every thread, in two steps; all writes to memory before the first one are seen after it.
// `found`: one a warp; a buffer may be used again after the next call with another one.
template <int threads, class R>
__device__ void tell_block(Found<R> mine, Found<R> *found) {
  if (threadIdx.x % 32 == lane_of_largest(mine)) found[threadIdx.x / 32] = mine;
  meet<threads>();
}
template <int threads, class R>
__device__ Found<R> largest_told(const Found<R> *found) {
  constexpr int warps = threads / 32;
  if constexpr (warps <= 4) {
    Found<R> all = found[0];
#pragma unroll
    for (int w = 1; w < warps; ++w) all = larger(all, found[w]);
    return all;
  } else {
    const int lane = threadIdx.x % 32;
    const Found<R> mine = lane < warps ? found[lane] : Found<R>{};
    return found[lane_of_largest(mine)];
  }
}

// Whether x is a number, without a floating-point instruction.
__device__ inline bool finite(double x) { return (__double2hiint(x) & 0x7fffffff) < 0x7ff00000; }
__device__ inline bool finite(float x) { return (__float_as_int(x) & 0x7fffffff) < 0x7f800000; }

// 1 / x: quick where x is of ordinary size.
__device__ inline double inverse_of(double x) {
  const int exponent = __double2hiint(x) >> 20 & 0x7ff;
  return exponent > 23 && exponent < 2023 ? dense::reciprocal(x) : 1 / x;
}
__device__ inline float inverse_of(float x) {
  const int exponent = __float_as_int(x) >> 23 & 0xff;
  return exponent > 23 && exponent < 231 ? dense::reciprocal(x) : 1 / x;
}

// conj(x) if so, without a double instruction, which would wait for tensor-core products.
__device__ inline double negative_if(bool so, double x) {
  return __hiloint2double(__double2hiint(x) ^ static_cast<int>(so) << 31, __double2loint(x));
}
__device__ inline float negative_if(bool so, float x) {
  return __int_as_float(__float_as_int(x) ^ static_cast<int>(so) << 31);
}
template <class T>
__device__ T conjugate_if(bool so, T x) {
  if constexpr (dense::complex_valued<T>)
    return {x.re, negative_if(so, x.im)};
  else
    return x;
}

template <class T>
__device__ __forceinline__ void assume_shared(const T *p) {
  __builtin_assume(__isShared(p));
}
template <class T>
__device__ __forceinline__ void assume_global(const T *p) {
  __builtin_assume(__isGlobal(p));
}
template <class T>
__device__ __forceinline__ void copy_async(T *to, const T *from) {
  const auto place = static_cast<unsigned>(__cvta_generic_to_shared(to));
  if constexpr (sizeof(T) == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(place), "l"(from) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(place), "l"(from), "n"(sizeof(T)) : "memory");
}
__device__ __forceinline__ void prefetch_from_memory(const void *p) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(p));
}
__device__ __forceinline__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int pending>
__device__ __forceinline__ void await() {
  asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
}

// Always in shared memory.
template <class T, int warps>
struct alignas(16) Control {
  T row[warps][most_columns];  // conj of a row of L, one a warp
  // D^-1 of the panel: element (i, i), element (partner, i).
  T beside[most_columns];
  Found<Real<T>> found[2][warps];
  Real<T> own[most_columns];
  std::int32_t partner[most_columns];  // the other column of a 2 x 2 block, or i
  std::int32_t swapped[most_columns];  // the position that changed places with i, or with the last column of its block
  std::int32_t strip;                  // columns of the rest that are taken
};

template <class T, int threads>
struct Storage {
  Control<T, threads / 32> *control;
  std::int32_t *position, *physical;
  T *panel;  // of W = L D: column j of row r at r * pitch + j
  T *a;      // element (0, 0) of what is left of the system
  std::int64_t column;
  int row;  // 1 or -1
  std::int32_t *pivots;
  int n, capacity;  // order; elements of the panel
  int first, rows;  // of what is left
  int pitch, depth;

  __device__ Storage(const dense::System<T> &system, Control<T, threads / 32> *control, unsigned char *room, T *panel,
                     int capacity, int n_max, std::int32_t *pivots)
      : control(control),
        panel(panel),
        a(system.a),
        column(system.column),
        row(static_cast<int>(system.row)),
        pivots(pivots),
        n(system.n),
        capacity(capacity),
        first(0),
        rows(system.n) {
    position = reinterpret_cast<std::int32_t *>(room);
    physical = position + (n_max + 3) / 2 * 2;
  }
  // An assumption for the compiler, which analyses one function at a time.
  template <bool shared>
  __device__ void known_places() const {
    assume_global(a), assume_shared(control), assume_shared(position), assume_shared(physical);
    if constexpr (shared) assume_shared(panel);
  }
  // An odd pitch: neighbouring rows lie in different banks.
  __device__ void shape() {
    pitch = min(most_columns + 1, capacity / rows);
    pitch -= pitch % 2 == 0;
    depth = min(pitch, most_columns);
  }
  __device__ void go_on(int width) { first += width, rows -= width, a += width * (column + row); }
  __device__ T *at(int r, int c) const {
    constexpr int size = sizeof(T);
    return reinterpret_cast<T *>(reinterpret_cast<char *>(a) + static_cast<unsigned>(c) * (column * size) +
                                 r * (row * size));
  }
  __device__ bool from_end() const { return row < 0; }

  // LAPACK's ipiv: 1-based, negative in both entries of a 2 x 2 block.
  __device__ void put_pivot(int k, int with, bool two) const {
    const int number = from_end() ? n - with : with + 1;
    pivots[from_end() ? n - 1 - k : k] = two ? -number : number;
  }
};

#endif  // __CUDACC__

}  // namespace sextant::hermitian_pivoted
