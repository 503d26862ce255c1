// SPDX-License-Identifier: BSD-3-Clause
// What kernels of kind sxt.partition/1 share: checked args, a division of consecutive rows, and parts of their models.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

#include "sextant/plugin/kinds/partition.h"
#include "sextant/sdk/kernel.hpp"

namespace sextant::plugin::partition {

inline const char *wrong_with(const sxt_partition_args &a) {
  if (a.n < 0 || a.members < 1) return "there are no members, or fewer than no rows";
  if (!a.rate || !a.begin || (a.n > 0 && (!a.row_ptr || !a.order))) return "an array is NULL";
  if (a.index_type != SXT_I32 && a.index_type != SXT_I64) return "index_type is none";
  if (a.offset_type != SXT_I32 && a.offset_type != SXT_I64) return "offset_type is none";
  for (std::int32_t m = 0; m < a.members; ++m)
    if (!(a.rate[m] > 0) || !std::isfinite(a.rate[m])) return "a rate is not above 0";
  if (!(a.entry_bytes >= 0) || !(a.row_bytes >= 0)) return "bytes are negative";
  return nullptr;
}

inline std::int64_t number(const void *array, sxt_index_type type, std::int64_t k) {
  return type == SXT_I32 ? static_cast<const std::int32_t *>(array)[k] : static_cast<const std::int64_t *>(array)[k];
}

inline double work_of(const sxt_partition_args &a, std::int64_t row) {
  const auto entries =
      static_cast<double>(number(a.row_ptr, a.offset_type, row + 1) - number(a.row_ptr, a.offset_type, row));
  return entries * a.entry_bytes + a.row_bytes;
}

// Rows in the order that stands in a.order, cut so that each member has its share of the work.
inline void cut(const sxt_partition_args &a) {
  double all = 0;
  for (std::int64_t k = 0; k < a.n; ++k) all += work_of(a, a.order[k]);
  const double rates = std::accumulate(a.rate, a.rate + a.members, 0.0);
  double before = 0, wanted = 0;
  std::int64_t k = 0;
  a.begin[0] = 0;
  for (std::int32_t m = 0; m + 1 < a.members; ++m) {
    wanted += all * (a.rate[m] / rates);
    while (k < a.n && before < wanted) before += work_of(a, a.order[k++]);
    a.begin[m + 1] = k;
  }
  a.begin[a.members] = a.n;
}

// What each kernel says of a query before its own conditions.
inline sxt_status offers(const sxt_partition_query &q, const char *method, bool renumbers, sxt_message *reason) {
  if (q.m.rows != q.m.cols)
    return refuse(reason, "%lld rows and %lld columns: x is divided as y is", (long long)q.m.rows, (long long)q.m.cols);
  if (q.method[0] && std::strcmp(q.method, method) != 0) return refuse(reason, "it divides by %s", method);
  if (renumbers && q.keeps_order)
    return refuse(reason, "it renumbers rows, or leaves members without any: ask for it by name");
  return SXT_OK;
}

// Seconds of a product beyond its share of the memory traffic: values of others, of which the slowest member has so
// many.
inline double halo_seconds(const sxt_partition_query &q, double values) {
  return q.members > 1 ? std::max(0.0, q.value_s) * values : 0;
}

// Columns beside a part of n / members rows that is as compact as a mesh allows, for rows with so many neighbours.
inline double compact_halo(const sxt_partition_query &q) {
  const double n = static_cast<double>(q.m.rows), part = n / std::max(1, q.members);
  const double degree = static_cast<double>(q.m.nnz) / std::max(1.0, n);
  return std::min(n - part, 2 * degree / 3 * std::cbrt(part * part));
}

inline double division_seconds(const sxt_partition_query &q) { return 4e-9 * static_cast<double>(q.m.rows); }

}  // namespace sextant::plugin::partition
