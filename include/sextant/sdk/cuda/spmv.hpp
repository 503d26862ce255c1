// SPDX-License-Identifier: BSD-3-Clause
// Helpers for kernels of y = alpha op(A) x + beta y on CUDA devices: pairs of types in the device's form, loads of
// arrays that are read once, the last step of a row, and the terms and features of their models. Include from .cu
// files.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "sextant/plugin/kinds/spmv.h"
#include "sextant/sdk/cuda/exec.hpp"
#include "sextant/sdk/cuda/numbers.hpp"

namespace sextant::plugin::cuda {

// Calls f(Tag<V>{}, Tag<M>{}) with vectors of V over a matrix stored as M, both in the device's form: the same type, or
// M of half the precision.
template <class F>
sxt_status with_device_pair(sxt_value_type value, sxt_value_type matrix, F &&f) {
  return with_matrix_types(value, matrix, [&](auto v, auto m) {
    return f(Tag<device_form<typename decltype(v)::type>>{}, Tag<device_form<typename decltype(m)::type>>{});
  });
}

// ---- on the device

// An element of an array that a run reads once, past the L1 cache, which is left to x.
template <class T>
__device__ __forceinline__ T streamed(const T *p) {
  if constexpr (sizeof(T) == 4) {
    std::uint32_t w;
    asm volatile("ld.global.nc.L1::no_allocate.b32 %0, [%1];" : "=r"(w) : "l"(p));
    return reinterpret_cast<const T &>(w);
  } else if constexpr (sizeof(T) == 8) {
    std::uint64_t w;
    asm volatile("ld.global.nc.L1::no_allocate.b64 %0, [%1];" : "=l"(w) : "l"(p));
    return reinterpret_cast<const T &>(w);
  } else {
    ulonglong2 w;
    asm volatile("ld.global.nc.L1::no_allocate.v2.b64 {%0, %1}, [%2];" : "=l"(w.x), "=l"(w.y) : "l"(p));
    return reinterpret_cast<const T &>(w);
  }
}

// The same for arrays larger than the last cache: they leave it first, so that x stays.
template <class T>
__device__ __forceinline__ T passing(const T *p) {
  std::uint64_t policy;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  if constexpr (sizeof(T) == 4) {
    std::uint32_t w;
    asm volatile("ld.global.nc.L1::no_allocate.L2::cache_hint.b32 %0, [%1], %2;" : "=r"(w) : "l"(p), "l"(policy));
    return reinterpret_cast<const T &>(w);
  } else if constexpr (sizeof(T) == 8) {
    std::uint64_t w;
    asm volatile("ld.global.nc.L1::no_allocate.L2::cache_hint.b64 %0, [%1], %2;" : "=l"(w) : "l"(p), "l"(policy));
    return reinterpret_cast<const T &>(w);
  } else {
    ulonglong2 w;
    asm volatile("ld.global.nc.L1::no_allocate.L2::cache_hint.v2.b64 {%0, %1}, [%2], %3;"
                 : "=l"(w.x), "=l"(w.y)
                 : "l"(p), "l"(policy));
    return reinterpret_cast<const T &>(w);
  }
}

template <class V>
__host__ __device__ V one() {
  return number<V>(1);
}
__device__ __forceinline__ bool is_zero(float a) { return a == 0; }
__device__ __forceinline__ bool is_zero(double a) { return a == 0; }
template <class R>
__device__ __forceinline__ bool is_zero(Complex<R> a) {
  return a.re == 0 && a.im == 0;
}

// sum + a * b.
__device__ __forceinline__ float multiply_add(float a, float b, float sum) { return fma(a, b, sum); }
__device__ __forceinline__ double multiply_add(double a, double b, double sum) { return fma(a, b, sum); }
template <class R>
__device__ __forceinline__ Complex<R> multiply_add(Complex<R> a, Complex<R> b, Complex<R> sum) {
  return {fma(a.re, b.re, fma(-a.im, b.im, sum.re)), fma(a.re, b.im, fma(a.im, b.re, sum.im))};
}

// y = alpha sum + beta y; beta == 0 never reads y.
template <class V>
__device__ __forceinline__ void store(V *y, V sum, V alpha, V beta) {
  const V scaled = times(alpha, sum);
  *y = is_zero(beta) ? scaled : multiply_add(beta, *y, scaled);
}

// Element k of offsets of 32 or 64 bits.
__device__ __forceinline__ std::int64_t offset_at(const void *offsets, bool wide, std::int64_t k) {
  return wide ? __ldg(static_cast<const long long *>(offsets) + k) : __ldg(static_cast<const int *>(offsets) + k);
}

__device__ __forceinline__ void add_atomically(float *to, float value) { atomicAdd(to, value); }
__device__ __forceinline__ void add_atomically(double *to, double value) { atomicAdd(to, value); }
template <class R>
__device__ __forceinline__ void add_atomically(Complex<R> *to, Complex<R> value) {
  atomicAdd(&to->re, value.re);
  atomicAdd(&to->im, value.im);
}

// y = beta y for columns of n elements, ld apart; beta == 0 never reads y. Grid: x over elements, y over columns.
template <class V>
__global__ void __launch_bounds__(256) scale_columns(std::int64_t n, V *y, std::int64_t ld, Scalar<V> beta_at) {
  const V beta = beta_at();
  V *column = y + blockIdx.y * ld;
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride)
    column[i] = is_zero(beta) ? V{} : times(beta, column[i]);
}

// ---- on the host

// The vectors and factors of one call in the device's form; columns of n_rhs > 1 lie ldx and ldy apart.
template <class V>
struct Product {
  const V *x;
  V *y;
  std::int64_t ldx, ldy;
  std::int32_t n_rhs;
  Scalar<V> alpha, beta;
};
template <class V>
Product<V> product_of(const sxt_spmv_args &args) {
  return {static_cast<const V *>(args.x),  static_cast<V *>(args.y), args.ldx, args.ldy, args.n_rhs,
          scalar_of(args.alpha, one<V>()), scalar_of(args.beta, V{})};
}
// The product of columns r and on.
template <class V>
Product<V> columns_from(Product<V> p, std::int32_t r, std::int32_t count) {
  p.x += r * p.ldx;
  p.y += r * p.ldy;
  p.n_rhs = count;
  return p;
}

// y = beta y for the n elements of every column.
template <class V>
sxt_status scale_outputs(std::int64_t n, const Product<V> &p, const sxt_exec *exec) {
  if (n <= 0 || p.n_rhs <= 0) return SXT_OK;
  const dim3 blocks(blocks_for(n, 256, 1056), static_cast<unsigned>(p.n_rhs));
  scale_columns<V><<<blocks, 256, 0, stream_of(*exec)>>>(n, p.y, p.ldy, p.beta);
  return launched(exec, "a scaling of y");
}

inline bool is_complex_type(sxt_value_type type) { return type == SXT_C64 || type == SXT_C128; }

// ---- models

// Terms of SpMV on CUDA devices. Beside bytes and flops: steps of all warps over their rows or entries, idle lanes
// included; lines of x that requests touch, which the L1 cache serves one a cycle; blocks, which are begun one by one;
// the waits of the busiest warp or block beyond all others, in rounds of dependent loads and in other units that the
// kernel counts (tail.busiest); and how many times over the device is full of blocks.
inline constexpr const char *spmv_terms[] = {
    "launches",        "stream_bytes", "gathers",        "sectors",    "atomics",      "flops", "compute.warp_steps",
    "compute.x_lines", "tail.chain",   "compute.blocks", "tail.waves", "tail.busiest", nullptr};
inline constexpr double spmv_term_defaults[] = {NAN,     NAN,     NAN,  NAN,  NAN,  NAN,
                                                1.3e-11, 4.5e-12, 5e-7, 1e-9, 1e-7, 2.5e-8};
inline constexpr int spmv_term_count = 12;

struct SpmvCost {
  double launches = 1;
  double matrix_bytes = 0;  // the arrays of A, read once a pass
  double passes = 1;        // times A is read
  double extra_bytes = 0;   // beside A, x and y
  double x_sectors = 0;     // sectors of x that units ask of the last cache, a right-hand side
  double x_misses = 0;      // sectors of x that come from memory beyond its first touch, a right-hand side
  double atomics = 0;
  double lanes = 0;        // multiply-adds, idle lanes included
  double warp_steps = 0;   // steps of warps over their rows or entries
  double x_lines = 0;      // 128-byte lines of x that the requests of warps touch, a right-hand side
  double chain = 0;        // rounds of dependent loads of the longest warp, a right-hand side
  double busiest = 0;      // further work of the busiest block, a right-hand side
  double threads = 128;    // of a block
  double resident = 1024;  // threads that a multiprocessor holds of it
};

inline double feature_or(const sxt_features *found, std::uint64_t i, double otherwise) {
  const double value = feature(found, i);
  return std::isfinite(value) ? value : otherwise;
}

inline sxt_candidate &fill_spmv(sxt_candidate &candidate, const sxt_spmv_query &q, const sxt_machine &machine,
                                double blocks, const SpmvCost &cost) {
  const bool transposed = q.op != SXT_NO_TRANSPOSE;
  const double element = static_cast<double>(value_bytes(q.m.q.value_type));
  const double in = static_cast<double>(transposed ? q.m.rows : q.m.cols);
  const double out = static_cast<double>(transposed ? q.m.cols : q.m.rows);
  candidate.n_terms = spmv_term_count;
  candidate.terms[0] = cost.launches;
  candidate.terms[1] = cost.passes * cost.matrix_bytes + cost.extra_bytes + q.n_rhs * element * (in + out);
  candidate.terms[2] = q.n_rhs * cost.x_misses;
  candidate.terms[3] = q.n_rhs * cost.x_sectors;
  candidate.terms[4] = q.n_rhs * cost.atomics;
  candidate.terms[5] = q.n_rhs * cost.lanes * (is_complex_type(q.m.q.value_type) ? 8 : 2);
  candidate.terms[6] = q.n_rhs * cost.warp_steps;
  candidate.terms[7] = q.n_rhs * cost.x_lines;
  candidate.terms[8] = q.n_rhs * cost.chain;
  candidate.terms[9] = cost.passes * blocks;
  const double units = std::max(1, machine.units),
               at_once = units * std::max(1.0, std::floor(cost.resident / cost.threads));
  candidate.terms[10] = cost.passes * std::ceil(blocks / at_once);
  candidate.terms[11] = q.n_rhs * cost.busiest;
  candidate.working_set_bytes = cost.matrix_bytes + cost.extra_bytes + q.n_rhs * element * (in + out);
  // Blocks are dealt out whole: the multiprocessor that gets most of them sets the time of all.
  candidate.units = std::max(1.0, blocks / std::max(1.0, std::ceil(blocks / units)));
  return candidate;
}

}  // namespace sextant::plugin::cuda
