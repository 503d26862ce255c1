// SPDX-License-Identifier: BSD-3-Clause
// Every operation by one block of threads an item, for groups whose sizes lie on the device: the host cannot call a
// library for them. A column after the other; each thread has entries of its own, so that sums have one order.
#pragma once

#include "sextant/sdk/cuda/dense_panel.hpp"
#include "sextant/sdk/dense.hpp"

namespace sextant_dense::vendor {

namespace numbers = sextant::plugin::cuda::dense;
using sextant::plugin::cuda::Real;

constexpr int item_threads = 128;

// One item, its sizes read from the device.
template <class T>
struct DeviceItem {
  int m, n, k;
  T *a, *b, *c;
  std::int64_t lda, ldb, ldc;
  const T *d;
  std::int64_t incd;
  __device__ DeviceItem(const sxt_dense_args &s, std::int64_t g)
      : m(s.m ? s.m[g] : 0),
        n(s.n ? s.n[g] : 0),
        k(s.k ? s.k[g] : 0),
        a(at(s.a, g)),
        b(at(s.b, g)),
        c(at(s.c, g)),
        lda(s.lda ? s.lda[g] : 1),
        ldb(s.ldb ? s.ldb[g] : 1),
        ldc(s.ldc ? s.ldc[g] : 1),
        d(at(s.d, g)),
        incd(s.d && s.incd ? s.incd[g] : 1) {}
  __device__ static T *at(void *const *list, std::int64_t g) { return list ? static_cast<T *>(list[g]) : nullptr; }
  // D's entry, or 1.
  __device__ Real<T> weight(int i) const { return d ? numbers::real_of(d[i * incd]) : Real<T>(1); }
  __device__ Real<T> diagonal(int i, bool unit) const { return unit ? Real<T>(1) : numbers::real_of(a[i + i * lda]); }
};

// Calls f(r, c) for all entries of an m x n block, threads taking turns.
template <class F>
__device__ void for_entries(int m, int n, F &&f) {
  for (std::int64_t e = threadIdx.x; e < std::int64_t{m} * n; e += item_threads)
    f(static_cast<int>(e % m), static_cast<int>(e / m));
}

template <class T>
__device__ int factor_item(const DeviceItem<T> &x, const PivotRule &rule, std::uint8_t *marks) {
  for (int j = 0; j < x.n; ++j) {
    Real<T> pivot = numbers::real_of(x.a[j + j * x.lda]);
    const Pivot verdict = judge(rule, pivot);
    __syncthreads();
    const Real<T> kept = verdict != Pivot::failed && rule.definite ? sqrt(pivot) : pivot;
    if (threadIdx.x == 0) {
      x.a[j + j * x.lda] = numbers::from_real<T>(kept);
      if (verdict == Pivot::changed && marks) marks[j] = 1;
    }
    if (verdict == Pivot::failed) return j + 1;
    const Real<T> inverse = 1 / kept;
    for (int r = j + 1 + threadIdx.x; r < x.n; r += item_threads)
      x.a[r + j * x.lda] = numbers::scaled(x.a[r + j * x.lda], inverse);
    __syncthreads();
    for_entries(x.n - j - 1, x.n - j - 1, [&](int r, int c) {
      if (r < c) return;
      r += j + 1, c += j + 1;
      T factor = numbers::conjugate(x.a[c + j * x.lda]);
      if (!rule.definite) factor = numbers::scaled(factor, pivot);
      x.a[r + c * x.lda] = numbers::minus_product(x.a[r + c * x.lda], x.a[r + j * x.lda], factor);
    });
    __syncthreads();
  }
  return 0;
}

// B = B L^-H D^-1: a thread a row.
template <class T>
__device__ void trsm_item(const DeviceItem<T> &x, bool unit) {
  for (int r = threadIdx.x; r < x.m; r += item_threads) {
    for (int c = 0; c < x.n; ++c) {
      T value = x.b[r + c * x.ldb];
#pragma unroll 1
      for (int k = 0; k < c; ++k)
        value = numbers::minus_product(value, x.b[r + k * x.ldb], numbers::conjugate(x.a[c + k * x.lda]));
      x.b[r + c * x.ldb] = numbers::scaled(value, 1 / x.diagonal(c, unit));
    }
    for (int c = 0; c < x.n && x.d; ++c) x.b[r + c * x.ldb] = numbers::scaled(x.b[r + c * x.ldb], 1 / x.weight(c));
  }
}

// B = B L^-1: a thread a row, from the last column on.
template <class T>
__device__ void right_item(const DeviceItem<T> &x, bool unit) {
  for (int r = threadIdx.x; r < x.m; r += item_threads)
    for (int c = x.n - 1; c >= 0; --c) {
      T value = x.b[r + c * x.ldb];
#pragma unroll 1
      for (int k = c + 1; k < x.n; ++k) value = numbers::minus_product(value, x.b[r + k * x.ldb], x.a[k + c * x.lda]);
      x.b[r + c * x.ldb] = numbers::scaled(value, 1 / x.diagonal(c, unit));
    }
}

// B = L^-1 B or, back, L^-H B.
template <class T>
__device__ void solve_item(const DeviceItem<T> &x, bool unit, bool back) {
  for (int step = 0; step < x.m; ++step) {
    const int j = back ? x.m - 1 - step : step;
    __syncthreads();
    for (int c = threadIdx.x; c < x.n; c += item_threads)
      x.b[j + c * x.ldb] = numbers::scaled(x.b[j + c * x.ldb], 1 / x.diagonal(j, unit));
    __syncthreads();
    const int first = back ? 0 : j + 1, count = back ? j : x.m - j - 1;
    for_entries(count, x.n, [&](int r, int c) {
      r += first;
      const T factor = back ? numbers::conjugate(x.a[j + r * x.lda]) : x.a[r + j * x.lda];
      x.b[r + c * x.ldb] = numbers::minus_product(x.b[r + c * x.ldb], factor, x.b[j + c * x.ldb]);
    });
  }
}

// left(r, k) and right(k, c) of a product that is taken off C.
template <class T, class Left, class Right>
__device__ void product_item(const DeviceItem<T> &x, int m, int n, bool lower, Left &&left, Right &&right) {
  for_entries(m, n, [&](int r, int c) {
    if (lower && r < c) return;
    T value = x.c[r + c * x.ldc];
#pragma unroll 1
    for (int k = 0; k < x.k; ++k) value = numbers::minus_product(value, left(r, k), right(k, c));
    x.c[r + c * x.ldc] = value;
  });
}

template <class T>
__device__ void update_item(const DeviceItem<T> &x, std::int32_t operation) {
  const auto row = [&](int r, int k) { return x.a[r + k * x.lda]; };
  switch (operation) {
    case SXT_DENSE_SYRK:
      return product_item(x, x.n, x.n, true, row, [&](int k, int c) {
        return numbers::scaled(numbers::conjugate(x.a[c + k * x.lda]), x.weight(k));
      });
    case SXT_DENSE_GEMM:
    case SXT_DENSE_GEMMT: {
      const bool lower = operation == SXT_DENSE_GEMMT;
      return product_item(x, lower ? x.n : x.m, x.n, lower, row, [&](int k, int c) {
        return numbers::scaled(numbers::conjugate(x.b[c + k * x.ldb]), x.weight(k));
      });
    }
    default: {
      const bool adjoint = operation == SXT_DENSE_PRODUCT_H;
      return product_item(
          x, x.m, x.n, false,
          [&](int r, int k) { return adjoint ? numbers::conjugate(x.a[k + r * x.lda]) : x.a[r + k * x.lda]; },
          [&](int k, int c) { return x.b[k + c * x.ldb]; });
    }
  }
}

template <class T>
__global__ void __launch_bounds__(item_threads) run_items(sxt_dense_args s, PivotRule rule) {
  for (std::int64_t g = blockIdx.x; g < s.count; g += gridDim.x) {
    const DeviceItem<T> x(s, g);
    const bool unit = s.unit != 0;
    int info = 0;
    switch (s.operation) {
      case SXT_DENSE_POTRF:
      case SXT_DENSE_LDLH: info = factor_item(x, rule, s.changed ? s.changed[g] : nullptr); break;
      case SXT_DENSE_TRSM: trsm_item(x, unit); break;
      case SXT_DENSE_RIGHT: right_item(x, unit); break;
      case SXT_DENSE_FORWARD: solve_item(x, unit, false); break;
      case SXT_DENSE_BACKWARD: solve_item(x, unit, true); break;
      default: update_item(x, s.operation);
    }
    if (s.info && threadIdx.x == 0) s.info[g] = info;
    __syncthreads();
  }
}

}  // namespace sextant_dense::vendor
