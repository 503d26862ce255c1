// SPDX-License-Identifier: BSD-3-Clause
// Products with DIA and symmetric DIA on CUDA devices, with or without inner products of the new y in the same pass. A
// row has one thread, which adds its diagonals in a fixed order. Two ways to walk:
//   rows    consecutive ones; any diagonals, any operation. An upper diagonal that also serves the lower triangle is
//           read again `offset` rows later, from the last cache or L1: memory is read once.
//   march   symmetric matrices with three upper diagonals, as the 7-point stencils have: a thread goes from row i to
//           i + S, S the outermost offset, and carries that diagonal's coefficient and two elements of x in registers.
// Bound: memory. rows x (stored diagonals x size of the matrix's type + (x and y) x size of the vectors'), 2 flops an
// entry. Include from .cu files.
#pragma once

#include <cstdint>
#include <limits>

#include "sextant/sdk/cuda/chain.hpp"
#include "sextant/sdk/cuda/spmv.hpp"
#include "sextant/sdk/cuda/sums.hpp"

namespace sextant::plugin::cuda {

// ---- arguments of a launch

// One diagonal's way into a product: y[i] += v[i] x[i + shift], where i + shift is an element of x. Rows, columns and
// shifts are below 2^31 in size, so that sums of two that wrap around are no element of x either.
struct DiaTerm {
  const void *values;
  std::int32_t shift, conjugate;
};
inline constexpr int dia_most_terms = 63;  // a launch: whole groups of 7 and of 9
inline constexpr std::int32_t dia_no_shift = std::numeric_limits<std::int32_t>::min();  // away from every x
struct DiaTerms {
  std::int32_t count, unit;          // unit: a main diagonal of ones is added
  DiaTerm term[dia_most_terms + 1];  // whole groups of 4 too
};

// Coefficients of a symmetric matrix with offsets 0, near, middle and stride. main NULL: ones.
struct DiaMarch {
  const void *main_values, *near_values, *middle_values, *far_values;
  std::uint32_t near, middle, stride;
  std::uint32_t columns, tiles;  // blocks side by side; all of them
  std::uint32_t planes;          // rows a thread takes
};

template <class V>
struct DiaVectors {
  const V *x;
  V *y;
  std::int64_t results, inputs;
  Scalar<V> alpha, beta;
};

// ---- inner products of the new y

inline constexpr int dia_most_dots = sums_at_once;

struct NoDots {
  static constexpr int blocks = 2;  // of 512 threads that a multiprocessor holds: half of its registers each
  struct Sums {
    __device__ void begin(const NoDots &) {}
    template <class V>
    __device__ void add(const NoDots &, std::int64_t, V) {}
    __device__ void finish(const NoDots &) {}
  };
};

// dots[k] = conj(u[k]) . v[k]; NULL: the new y. Summed in double precision by row, thread, block and grid, always so.
template <class V>
struct Dots {
  static constexpr int blocks = 1;
  using A = Wide<V>;
  const V *u[dia_most_dots], *v[dia_most_dots];
  std::int32_t count;
  SumsExchange exchange;
  V *dots;

  class Sums {
   public:
    // After the run before has ended.
    __device__ void begin(const Dots &d) {
      if (d.exchange.epoch) epoch_ = next_epoch(d.exchange.epoch);
    }
    __device__ void add(const Dots &d, std::int64_t i, V y) {
#pragma unroll
      for (int k = 0; k < dia_most_dots; ++k)
        if (k < d.count) {
          const A a = convert<A>(d.u[k] ? d.u[k][i] : y), b = convert<A>(d.v[k] ? d.v[k][i] : y);
          sum_[k] = multiply_add(conjugated(a), b, sum_[k]);
        }
    }
    __device__ void finish(const Dots &d) {
      __shared__ alignas(16) unsigned char room[sizeof(SumsRoom<A>)];
      A total;
      if (!add_grid(sum_, *reinterpret_cast<SumsRoom<A> *>(room), d.exchange, epoch_, d.count, &total)) return;
      const int k = threadIdx.x / 8;
      if (threadIdx.x % 8 == 0 && k < d.count) d.dots[k] = convert<V>(total);
    }

   private:
    A sum_[dia_most_dots] = {};
    Word epoch_ = 0;
  };
};

// ---- kernels

// Waits for earlier kernels and reads alpha and beta, which may lie on the device.
template <class V>
__device__ __forceinline__ void begin_product(const DiaVectors<V> &vectors, V *alpha, V *beta) {
  await_predecessor();
  release_successor();
  *alpha = vectors.alpha();
  *beta = vectors.beta();
}

// y[i], stored and returned; beta == 0 never reads it.
template <class V>
__device__ __forceinline__ V finish_row(V *y, std::int64_t i, V sum, V alpha, V beta) {
  V value = times(alpha, sum);
  if (!is_zero(beta)) value = multiply_add(beta, y[i], value);
  return y[i] = value;
}

// C diagonals from term t on, for row i: their coefficients first, then the elements of x, so that 2 C loads are on
// their way at once. limit: elements of x, 0 where i is no row. Terms beyond the last have a shift outside x.
template <int C, class V, class M, class Begin>
__device__ __forceinline__ V add_diagonals(const DiaTerms &terms, int t, std::uint32_t i, std::uint32_t limit,
                                           const V *const &x, V sum, Begin &&begin) {
  M v[C];
  V element[C];
#pragma unroll
  for (int c = 0; c < C; ++c) {
    v[c] = M{};
    if (i + static_cast<std::uint32_t>(terms.term[t + c].shift) < limit)
      v[c] = read_only(static_cast<const M *>(terms.term[t + c].values) + i);
  }
  begin();
#pragma unroll
  for (int c = 0; c < C; ++c) {
    const std::uint32_t j = i + static_cast<std::uint32_t>(terms.term[t + c].shift);
    element[c] = V{};
    if (j < limit) element[c] = x[j];
  }
#pragma unroll
  for (int c = 0; c < C; ++c) {
    V a = convert<V>(v[c]);
    if constexpr (complex_valued<V>)
      if (terms.term[t + c].conjugate) a = conjugated(a);
    sum = multiply_add(a, element[c], sum);
  }
  return sum;
}

// A block takes whole tiles of as many rows as it has threads.
template <class V, class M, int C, class Extra>
__global__ void __launch_bounds__(512, 2)
    dia_rows(const __grid_constant__ DiaTerms terms, const __grid_constant__ DiaVectors<V> vectors,
             const __grid_constant__ Extra extra) {
  constexpr int unrolled = 3 * C;  // terms whose places the compiler knows: 27-point stencils have no more
  typename Extra::Sums sums;
  V alpha, beta;
  bool begun = false;
  const auto rows = static_cast<std::uint32_t>(vectors.results);
#pragma unroll 1
  for (std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * blockDim.x; first < vectors.results;
       first += static_cast<std::int64_t>(gridDim.x) * blockDim.x) {
    const std::uint32_t i = static_cast<std::uint32_t>(first) + threadIdx.x;
    const std::uint32_t limit = i < rows ? static_cast<std::uint32_t>(vectors.inputs) : 0;
    V sum = add_diagonals<C, V, M>(terms, 0, i, limit, vectors.x, V{}, [&] {
      if (begun) return;
      begin_product(vectors, &alpha, &beta);
      sums.begin(extra);
      begun = true;
    });
#pragma unroll
    for (int t = C; t < unrolled; t += C) {
      if (t >= terms.count) break;
      sum = add_diagonals<C, V, M>(terms, t, i, limit, vectors.x, sum, [] {});
    }
#pragma unroll 1
    for (int t = unrolled; t < terms.count; t += C)
      sum = add_diagonals<C, V, M>(terms, t, i, limit, vectors.x, sum, [] {});
    if (i >= rows) continue;
    if (terms.unit && i < limit) sum = plus(sum, vectors.x[i]);
    sums.add(extra, i, finish_row(vectors.y, i, sum, alpha, beta));
  }
  if (!begun) await_predecessor();  // no rows: the inner products are zero, but are written only after earlier kernels
  sums.finish(extra);
}

// The coefficients and elements of x that one row of a march needs beside what the thread carries. The lower
// neighbours' coefficients and most of x come from L1: the block's other threads read them too.
template <class V, class M>
struct MarchRow {
  M main, near, near_low, middle, middle_low, far;
  V x_near, x_near_low, x_middle, x_middle_low, x_far;

  __device__ __forceinline__ void load_coefficients(const DiaMarch &m, std::uint32_t i, bool in) {
    const auto *near_values = static_cast<const M *>(m.near_values);
    const auto *middle_values = static_cast<const M *>(m.middle_values);
    main = !m.main_values ? M(1) : in ? streamed(static_cast<const M *>(m.main_values) + i) : M(0);
    far = in ? streamed(static_cast<const M *>(m.far_values) + i) : M(0);
    near = in ? read_only(near_values + i) : M(0);
    near_low = in && i >= m.near ? read_only(near_values + i - m.near) : M(0);
    middle = in ? read_only(middle_values + i) : M(0);
    middle_low = in && i >= m.middle ? read_only(middle_values + i - m.middle) : M(0);
  }
  __device__ __forceinline__ void load_x(const DiaMarch &m, const V *x, std::uint32_t i, std::uint32_t n, bool in) {
    x_far = in && i + m.stride < n ? x[i + m.stride] : V(0);
    x_near = in && i + m.near < n ? x[i + m.near] : V(0);
    x_near_low = in && i >= m.near ? x[i - m.near] : V(0);
    x_middle = in && i + m.middle < n ? x[i + m.middle] : V(0);
    x_middle_low = in && i >= m.middle ? x[i - m.middle] : V(0);
  }
};

// Two rows at a time, so that twenty loads are on their way at once. Factors are fetched when they are used: registers
// are scarce here.
template <class V, class M, class Extra>
__global__ void __launch_bounds__(512, Extra::blocks)
    dia_march(const __grid_constant__ DiaMarch m, const __grid_constant__ DiaVectors<V> vectors,
              const __grid_constant__ Extra extra) {
  constexpr int at_once = 2;
  const auto n = static_cast<std::uint32_t>(vectors.results);
  const V *x = vectors.x;
  typename Extra::Sums sums;
  bool begun = false;
#pragma unroll 1
  for (std::uint32_t tile = blockIdx.x; tile < m.tiles; tile += gridDim.x) {
    const std::uint32_t column = tile % m.columns * blockDim.x + threadIdx.x, plane = tile / m.columns * m.planes;
    const std::int64_t beyond = static_cast<std::int64_t>(plane + m.planes) * m.stride;
    const std::uint32_t end = column < m.stride ? static_cast<std::uint32_t>(min(vectors.results, beyond)) : 0;
    std::uint32_t i = column + plane * m.stride;
    const bool below = i < end && i >= m.stride;
    M far_low = below ? read_only(static_cast<const M *>(m.far_values) + i - m.stride) : M(0);
    V x_low, x_here;
    bool started = false;
#pragma unroll 1
    do {
      MarchRow<V, M> row[at_once];
#pragma unroll
      for (int u = 0; u < at_once; ++u) row[u].load_coefficients(m, i + u * m.stride, i + u * m.stride < end);
      if (!begun) {
        await_predecessor();
        release_successor();
        sums.begin(extra);
        begun = true;
      }
      if (!started) {
        x_low = below ? x[i - m.stride] : V(0);
        x_here = i < end ? x[i] : V(0);
        started = true;
      }
#pragma unroll
      for (int u = 0; u < at_once; ++u) row[u].load_x(m, x, i + u * m.stride, n, i + u * m.stride < end);
#pragma unroll
      for (int u = 0; u < at_once; ++u) {
        const MarchRow<V, M> &r = row[u];
        // From the lowest column to the highest.
        V sum = V(far_low) * x_low;
        sum = multiply_add(V(r.middle_low), r.x_middle_low, sum);
        sum = multiply_add(V(r.near_low), r.x_near_low, sum);
        sum = multiply_add(V(r.main), x_here, sum);
        sum = multiply_add(V(r.near), r.x_near, sum);
        sum = multiply_add(V(r.middle), r.x_middle, sum);
        sum = multiply_add(V(r.far), r.x_far, sum);
        far_low = r.far, x_low = x_here, x_here = r.x_far;
        if (i + u * m.stride < end)
          sums.add(extra, i + u * m.stride,
                   finish_row(vectors.y, i + u * m.stride, sum, vectors.alpha(), vectors.beta()));
      }
      i += at_once * m.stride;
    } while (i < end);
  }
  sums.finish(extra);
}

}  // namespace sextant::plugin::cuda
