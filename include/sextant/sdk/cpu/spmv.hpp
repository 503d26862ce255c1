// SPDX-License-Identifier: BSD-3-Clause
// Helpers for kernels of y = alpha op(A) x + beta y on the CPU: blocks of right-hand sides, transposed products with
// separate sums for each thread, and the terms and features of their models.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "sextant/plugin/kinds/spmv.h"
#include "sextant/sdk/cpu/isa.hpp"
#include "sextant/sdk/cpu/threads.hpp"

namespace sextant::plugin {

// ---- running ---------------------------------------------------------------------------------------------------

inline constexpr int rhs_block = 4;  // right-hand sides that are served by one pass over A

// One block of right-hand sides.
template <class V>
struct Vectors {
  V alpha, beta;
  const V *x;
  V *y;
  std::int64_t ldx, ldy;
};

// Calls f(Vectors, block width as a constant) for all right-hand sides, four at a time and the rest one by one.
template <class V, class F>
void for_each_block(const sxt_spmv_args &args, F &&f) {
  const V *x = static_cast<const V *>(args.x);
  V *y = static_cast<V *>(args.y);
  const V alpha = scalar(args.alpha, V(1)), beta = scalar(args.beta, V(0));
  for (std::int32_t r = 0; r < args.n_rhs;) {
    const Vectors<V> block = {alpha, beta, x + r * args.ldx, y + r * args.ldy, args.ldx, args.ldy};
    if (args.n_rhs - r >= rhs_block) {
      f(block, std::integral_constant<int, rhs_block>{});
      r += rhs_block;
    } else {
      f(block, std::integral_constant<int, 1>{});
      ++r;
    }
  }
}

// y = alpha sum + beta y; beta == 0 never reads y.
template <class V>
inline void store(V &y, V sum, V alpha, V beta) {
  y = beta == V(0) ? product(alpha, sum) : product(alpha, sum) + product(beta, y);
}

// y = beta y for a range of elements; beta == 0 never reads y.
template <class V>
void scale_range(V *y, Range range, V beta) {
  if (beta == V(1)) return;
  for (std::int64_t i = range.begin; i < range.end; ++i) y[i] = beta == V(0) ? V(0) : product(beta, y[i]);
}

// Elements between the columns of one part's sums: whole cache lines.
inline std::int64_t scatter_stride(std::int64_t n) { return (n + 15) / 16 * 16; }

// Scratch of scattered(): one copy of a block of y a part, none when there is one part.
inline std::uint64_t scatter_bytes(std::int64_t n, int parts, int n_rhs, std::uint64_t element) {
  return parts <= 1 ? 0 : scatter_stride(n) * element * parts * (n_rhs >= rhs_block ? rhs_block : 1);
}

// y = beta y + sums over parts, y having n rows. add(part, sums, ld) adds a part's contributions, alpha included, to
// R columns of sums. Each part adds to its own copy in scratch, and the copies are summed in the order of parts: no
// atomics, and bits depend only on the number of parts.
template <int R, class V, class Add>
void scattered(const Vectors<V> &v, std::int64_t n, int parts, int team, void *scratch, Add &&add) {
  if (parts <= 1) {
    for (int r = 0; r < R; ++r) scale_range(v.y + r * v.ldy, {0, n}, v.beta);
    return add(0, v.y, v.ldy);
  }
  const std::int64_t ld = scatter_stride(n);
  V *sums = static_cast<V *>(scratch);
  for_each_part(parts, team, [&](int part) {
    V *own = sums + part * R * ld;
    std::fill_n(own, R * ld, V(0));
    add(part, own, ld);
  });
  for_each_part(parts, team, [&](int part) {
    const Range range = part_of(n, parts, part, 16);
    for (int r = 0; r < R; ++r) {
      scale_range(v.y + r * v.ldy, range, v.beta);
      for (int p = 0; p < parts; ++p)
        for (std::int64_t j = range.begin; j < range.end; ++j) v.y[j + r * v.ldy] += sums[(p * R + r) * ld + j];
    }
  });
}

// Where a part begins when n items are cut into parts of equal work; work(i): of all items before i, growing with i.
template <class Work>
std::int64_t border_by_work(std::int64_t n, int parts, int part, Work &&work) {
  if (part >= parts || n == 0) return n;
  const std::int64_t share = part_of(work(n), parts, part).begin;
  std::int64_t low = 0, high = n;
  while (low < high) {
    const std::int64_t middle = (low + high) / 2;
    if (work(middle) < share)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

// The same for items weighing ptr[i+1] - ptr[i] + weight, and the part.
template <class Offset>
std::int64_t equal_border(const Offset *ptr, std::int64_t n, std::int64_t weight, int parts, int part,
                          std::int64_t grain = 1) {
  const std::int64_t border = border_by_work(
      n, parts, part, [&](std::int64_t i) { return static_cast<std::int64_t>(ptr[i]) - ptr[0] + weight * i; });
  return part >= parts ? n : std::min(n, (border + grain / 2) / grain * grain);
}
template <class Offset>
Range equal_part(const Offset *ptr, std::int64_t n, std::int64_t weight, int parts, int part, std::int64_t grain = 1) {
  return {equal_border(ptr, n, weight, parts, part, grain), equal_border(ptr, n, weight, parts, part + 1, grain)};
}

// Cost of starting a slice or a row, in entries: storages and kernels cut their arrays by the same weights, so that
// threads work on the memory that they touched first.
inline constexpr std::int64_t slice_weight = 16;

// Which code in lanes (plugins/formats/ell_call.hpp of the sources) serves a pair of types: f64, f32 under f64, f32;
// -1: none.
inline int lane_pair(sxt_value_type vectors, sxt_value_type matrix) {
  if (vectors == SXT_F64) return matrix == SXT_F64 ? 0 : matrix == SXT_F32 ? 1 : -1;
  return vectors == SXT_F32 && matrix == SXT_F32 ? 2 : -1;
}

// alpha and beta of a call on f32 or f64 vectors.
inline void lane_scalars(const sxt_spmv_args &args, sxt_value_type type, double *alpha, double *beta) {
  *alpha = type == SXT_F32 ? scalar(args.alpha, 1.0f) : scalar(args.alpha, 1.0);
  *beta = type == SXT_F32 ? scalar(args.beta, 0.0f) : scalar(args.beta, 0.0);
}

// ---- models ----------------------------------------------------------------------------------------------------

inline constexpr const char *spmv_terms[] = {"launches",       "barriers", "stream_bytes", "gathers",
                                             "cached_gathers", "flops",    "steps",        "compute.mispredictions",
                                             nullptr};
// Branches mispredicted in a run with `surprises` irregular branches: those that fit one unit's predictor are learnt
// after a few runs; far beyond that every one is missed.
inline double mispredictions(double surprises, int threads, double room) {
  const double each = surprises / threads;
  return each > 0 ? surprises * each * each / (each * each + room * room) : 0;
}

// The features that models of products need about the use of x, first in every kernel's list.
enum { feature_miss_unit, feature_miss_last, n_x_features };
#define SXT_X_FEATURES "x_miss_unit_cache", "x_miss_cache"

struct SpmvCost {
  double matrix_bytes = 0;    // the arrays of A, read once a pass
  double passes = 1;          // times A is read from where it lies
  double lanes = 0;           // multiply-adds a right-hand side, padding included
  double slowdown = 8;        // how far below its peak the processor multiplies where x is gathered
  double steps = 0;           // rows, slices or runs started, a right-hand side
  double mispredictions = 0;  // branches, a right-hand side
  double imbalance = 1;       // busiest thread / mean thread
  double extra_bytes = 0;     // beside A, x and y: copies of y, ...
  double extra_forks = 0;
};

// A feature, or a default where it is not available.
inline double feature_or(const sxt_features *found, std::uint64_t i, double otherwise) {
  const double value = feature(found, i);
  return std::isfinite(value) ? value : otherwise;
}

// One candidate on `threads` threads. x is streamed once; beyond that, an entry whose element of x is in no cache near
// enough costs an isolated access, from memory or from the last cache.
inline sxt_candidate &fill_spmv(sxt_candidate &candidate, const sxt_spmv_query &q, const sxt_features *found,
                                const sxt_machine &machine, int threads, const SpmvCost &cost) {
  const bool transposed = q.op != SXT_NO_TRANSPOSE;
  const double element = static_cast<double>(value_bytes(q.m.q.value_type)), nnz = static_cast<double>(q.m.nnz);
  const double x_bytes = element * static_cast<double>(transposed ? q.m.rows : q.m.cols);
  const double y_bytes = element * static_cast<double>(transposed ? q.m.cols : q.m.rows);
  // The vector accessed out of order: x, or y when transposed.
  const double random_bytes = element * static_cast<double>(q.m.cols);
  const double unit = static_cast<double>(machine.unit_cache_bytes) * threads;
  const double last = static_cast<double>(machine.cache_bytes);
  const double working_set = cost.matrix_bytes + q.n_rhs * (x_bytes + y_bytes);
  const double lines = random_bytes / 64;
  // Without features: one access in sixteen beyond a cache is taken to miss, as in a mesh numbered with some locality.
  const auto misses = [&](int which, double cache) {
    if (working_set <= cache || nnz <= 0) return 0.0;
    const double guess = random_bytes > cache ? (1 - cache / random_bytes) / 16 : 0;
    return std::max(0.0, feature_or(found, which, guess + lines / nnz) * nnz - lines) * q.n_rhs;
  };
  const double from_memory = misses(feature_miss_last, last);
  const double from_cache = std::max(0.0, misses(feature_miss_unit, unit) - from_memory);
  const double factor = multiply_add_flops(q.m.q.value_type) * cost.slowdown * q.n_rhs;

  candidate.launch[0] = threads;
  candidate.launch[1] = machine.level;
  candidate.model_class = threads > 1;  // alone and in a team are fitted apart
  candidate.n_terms = 8;
  candidate.terms[0] = 1;
  candidate.terms[1] = threads > 1 ? 1 + cost.extra_forks : 0;
  // y is fetched before it is written.
  candidate.terms[2] =
      cost.imbalance * (cost.passes * cost.matrix_bytes + q.n_rhs * (x_bytes + 2 * y_bytes) + cost.extra_bytes);
  candidate.terms[3] = cost.imbalance * from_memory;
  candidate.terms[4] = cost.imbalance * from_cache;
  candidate.terms[5] = cost.imbalance * cost.lanes * factor;
  candidate.terms[6] = cost.imbalance * cost.steps * q.n_rhs;
  candidate.terms[7] = cost.imbalance * cost.mispredictions * q.n_rhs;
  candidate.working_set_bytes = working_set + cost.extra_bytes;
  candidate.units = threads;
  return candidate;
}

// Busiest thread over mean thread where threads get equal numbers of entries, in whole rows (equal_part): one thread
// has the longest row.
inline double longest_row_imbalance(const sxt_spmv_query &q, double longest, int threads) {
  if (threads <= 1 || q.m.nnz <= 0 || !std::isfinite(longest)) return 1;
  return std::clamp(longest * threads / static_cast<double>(q.m.nnz), 1.0, static_cast<double>(threads));
}

// The features of equal_rows_imbalance, side by side in a kernel's list.
#define SXT_ROW_FEATURES                                                                                          \
  "row_nnz_max", "row_imbalance_2", "row_imbalance_4", "row_imbalance_8", "row_imbalance_16", "row_imbalance_32", \
      "row_imbalance_64"
inline constexpr int n_row_features = 7;

// Busiest thread over mean thread where threads get equal numbers of rows (part_of). first: where SXT_ROW_FEATURES
// begin in the kernel's list. Before they are computed, the longest row bounds it.
inline double equal_rows_imbalance(const sxt_spmv_query &q, const sxt_features *found, std::uint64_t first,
                                   int threads) {
  if (threads <= 1 || q.m.nnz <= 0 || q.m.rows <= 0) return 1;
  // Counted for 2, 4, ... 64 parts: numbers between take the next larger one.
  std::uint64_t which = 1;
  while (which < 6 && (1 << which) < threads) ++which;
  const double counted = feature(found, first + which);
  if (std::isfinite(counted)) return std::clamp(counted, 1.0, static_cast<double>(threads));
  return longest_row_imbalance(q, feature(found, first), threads);
}

}  // namespace sextant::plugin
