// SPDX-License-Identifier: BSD-3-Clause
// Rows of ELL arrays on CUDA devices, for the products with ELL and HYB: a thread a row, so that a warp reads runs of
// each column of the arrays; `flight` entries are loaded before the first is used. Include from .cu files.
#pragma once

#include <cstdint>
#include <type_traits>

#include "sextant/sdk/cuda/chain.hpp"
#include "sextant/sdk/cuda/spmv.hpp"

namespace sextant::plugin::cuda {

template <class M>
struct EllArrays {
  const std::int32_t *col;  // -1: padding
  const M *values;
  std::int64_t width, ld, rows;
};
template <class M>
EllArrays<M> ell_arrays(const sxt_ell &a) {
  return {static_cast<const std::int32_t *>(a.col), static_cast<const M *>(a.values), a.width, a.ld, a.s.rows};
}

// A x in row i, 0 where it is no row. Entries of the arrays are loaded first, then begin() is called, which waits for
// x.
template <int flight, class V, class M, class Begin>
__device__ __forceinline__ V ell_row(const EllArrays<M> &a, std::int64_t i, const V *x, Begin &&begin) {
  V sum{};
  std::int64_t k = 0;
#pragma unroll 1
  do {
    std::int32_t col[flight];
    M value[flight];
#pragma unroll
    for (int f = 0; f < flight; ++f) {
      const bool in = k + f < a.width && i < a.rows;
      col[f] = in ? streamed(a.col + (k + f) * a.ld + i) : -1;
      value[f] = in ? streamed(a.values + (k + f) * a.ld + i) : M{};
    }
    if (k == 0) begin();
    V element[flight];
#pragma unroll
    for (int f = 0; f < flight; ++f) element[f] = col[f] >= 0 ? x[col[f]] : V{};
#pragma unroll
    for (int f = 0; f < flight; ++f) sum = multiply_add(convert<V>(value[f]), element[f], sum);
    k += flight;
  } while (k < a.width);
  return sum;
}

// Entries at once: the most among 4, 8 and 12 that leave the fewest places idle.
inline int ell_flight(std::int64_t width) {
  const auto idle = [&](std::int64_t flight) {
    return divide_up(std::max<std::int64_t>(1, width), flight) * flight - width;
  };
  return width <= 4 ? 4 : idle(8) < idle(12) ? 8 : 12;
}
// Calls f(ell_flight(width) as a constant).
template <class F>
sxt_status with_ell_flight(std::int64_t width, F &&f) {
  switch (ell_flight(width)) {
    case 4: return f(std::integral_constant<int, 4>{});
    case 8: return f(std::integral_constant<int, 8>{});
    default: return f(std::integral_constant<int, 12>{});
  }
}
// Rounds of loads over a row of such a width, as models count them.
inline double ell_rounds(double width) {
  const auto places = static_cast<std::int64_t>(std::ceil(width));
  return static_cast<double>(divide_up<std::int64_t>(std::max<std::int64_t>(1, places), ell_flight(places)));
}

// Calls f(Tag<V>{}, Tag<M>{}) for the pairs of real types that products with ELL and HYB are compiled for.
template <class F>
sxt_status with_real_pair(sxt_value_type vectors, sxt_value_type matrix, F &&f) {
  if (vectors == SXT_F64 && matrix == SXT_F64) return f(Tag<double>{}, Tag<double>{});
  if (vectors == SXT_F64 && matrix == SXT_F32) return f(Tag<double>{}, Tag<float>{});
  if (vectors == SXT_F32 && matrix == SXT_F32) return f(Tag<float>{}, Tag<float>{});
  return SXT_E_TYPE;
}

// Both refuse transposes and complex numbers.
inline sxt_status check_ell_query(const sxt_spmv_query &q, sxt_message *reason) {
  if (q.op != SXT_NO_TRANSPOSE) return refuse(reason, "operation %d: only op 0 (no transpose) is offered", q.op);
  if (with_real_pair(q.m.q.value_type, q.m.matrix_type, [](auto, auto) { return SXT_OK; }) != SXT_OK)
    return refuse_types(q.m.q.value_type, q.m.matrix_type, reason);
  return SXT_OK;
}

// The features of x that models need where `lanes` lanes share a row, and its cost: sectors of x that the
// multiprocessors ask of the last cache, those that come from memory again, and lines that requests touch. Without
// features: a mesh numbered with some locality. at: the position of the three names in the kernel's list.
#define SXT_CUDA_X_FEATURES(lanes) "x_sector_miss_unit", "x_sector_miss_cache", "x_tags_" #lanes
inline constexpr int n_cuda_x_features = 3;

inline void add_x_cost(SpmvCost &cost, const sxt_spmv_query &q, const sxt_features *found, std::uint64_t at,
                       const sxt_machine &machine) {
  const double nnz = static_cast<double>(q.m.nnz), element = static_cast<double>(value_bytes(q.m.q.value_type));
  const double x_bytes = element * static_cast<double>(q.m.cols), cache = static_cast<double>(machine.cache_bytes);
  const bool fits = cost.matrix_bytes + x_bytes + element * static_cast<double>(q.m.rows) <= 0.8 * cache;
  cost.x_sectors = nnz * feature_or(found, at, 0.4);
  cost.x_misses = fits ? 0 : nnz * feature_or(found, at + 1, x_bytes > cache ? 0.2 : 0);
  cost.x_lines = nnz * feature_or(found, at + 2, 0.3);
}

}  // namespace sextant::plugin::cuda
