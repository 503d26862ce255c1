// SPDX-License-Identifier: BSD-3-Clause
// What kernels of kind sxt.dense/1 need: the items of a grouped call as typed matrices, the checks of its arguments,
// and what models share. Header-only, no part of the ABI.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sextant/sdk/cpu/threads.hpp"
#include "sextant/sdk/dense_pivots.hpp"

namespace sextant_dense {

using namespace sextant::plugin;

// Column-major.
template <class T>
struct View {
  T *data;
  std::int64_t ld;
  T &operator()(std::int64_t i, std::int64_t j) const { return data[i + j * ld]; }
  View at(std::int64_t i, std::int64_t j) const { return {data + i + j * ld, ld}; }
};

template <class T>
struct Item {
  std::int64_t m, n, k;
  View<T> a, b, c;
  const T *d;  // NULL: the identity
  std::int64_t incd;
};

template <class T>
Item<T> item_of(const sxt_dense_args &d, std::int64_t g) {
  const auto size = [&](const std::int32_t *sizes) { return sizes ? std::int64_t{sizes[g]} : 0; };
  const auto view = [&](void *const *matrices, const std::int64_t *ld) {
    return matrices && ld ? View<T>{static_cast<T *>(matrices[g]), ld[g]} : View<T>{nullptr, 1};
  };
  return {size(d.m),
          size(d.n),
          size(d.k),
          view(d.a, d.lda),
          view(d.b, d.ldb),
          view(d.c, d.ldc),
          d.d ? static_cast<const T *>(d.d[g]) : nullptr,
          d.d ? d.incd[g] : 1};
}

inline PivotRule pivot_rule(const sxt_dense_args &d) {
  return {d.pivot_policy, d.pivot_tolerance, d.pivot_value, d.operation == SXT_DENSE_POTRF};
}
inline std::uint8_t *marks_of(const sxt_dense_args &d, std::int64_t g) { return d.changed ? d.changed[g] : nullptr; }

inline bool factors(std::int32_t operation) { return operation == SXT_DENSE_POTRF || operation == SXT_DENSE_LDLH; }

inline sxt_status check(const sxt_dense_args &d, const sxt_exec *exec) {
  if (d.operation < SXT_DENSE_POTRF || d.operation > SXT_DENSE_RIGHT)
    return error(exec, SXT_E_ARGUMENT, "%d is no dense operation", d.operation);
  if (d.count < 0 || (d.count > 0 && (!d.n || !d.a || !d.lda)))
    return error(exec, SXT_E_ARGUMENT, "%lld items without sizes or matrices", (long long)d.count);
  if (d.operation == SXT_DENSE_TRSM && d.d && !d.unit)
    return error(exec, SXT_E_ARGUMENT, "trsm with a D needs a unit triangle");
  return SXT_OK;
}

// Bytes of the largest item, at most: the models' working set.
inline double working_set(const sxt_dense_query &q) {
  const auto side = [](std::int64_t n) { return static_cast<double>(std::max<std::int64_t>(1, n)); };
  const double m = side(q.max_m), n = side(q.max_n), k = side(q.max_k);
  return (m * n + m * k + n * k) * static_cast<double>(value_bytes(q.q.value_type));
}

}  // namespace sextant_dense
