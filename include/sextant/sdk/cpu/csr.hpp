// SPDX-License-Identifier: BSD-3-Clause
// Helpers for plugins that read CSR of any index types on the host.
#pragma once

#include <cstdint>

#include "sextant/plugin/kinds/storage.h"
#include "sextant/sdk/cpu/threads.hpp"

namespace sextant::plugin {

// Calls f(row_ptr, col) with the arrays in their own types.
template <class F>
sxt_status with_csr_indices(const sxt_csr &a, F &&f) {
  using Narrow = std::int32_t;
  using Wide = std::int64_t;
  if (a.s.offset_type == SXT_I32 && a.s.index_type == SXT_I32)
    return f(static_cast<const Narrow *>(a.row_ptr), static_cast<const Narrow *>(a.col));
  if (a.s.offset_type == SXT_I64 && a.s.index_type == SXT_I32)
    return f(static_cast<const Wide *>(a.row_ptr), static_cast<const Narrow *>(a.col));
  if (a.s.offset_type == SXT_I32 && a.s.index_type == SXT_I64)
    return f(static_cast<const Narrow *>(a.row_ptr), static_cast<const Wide *>(a.col));
  if (a.s.offset_type == SXT_I64 && a.s.index_type == SXT_I64)
    return f(static_cast<const Wide *>(a.row_ptr), static_cast<const Wide *>(a.col));
  return SXT_E_TYPE;
}

// Calls f(row, entry, column) for every entry of some rows, in order.
template <class F>
sxt_status for_each_entry(const sxt_csr &a, Range rows, F &&f) {
  return with_csr_indices(a, [&f, rows](const auto *row_ptr, const auto *col) {
    for (std::int64_t i = rows.begin; i < rows.end; ++i)
      for (std::int64_t k = row_ptr[i]; k < row_ptr[i + 1]; ++k) f(i, k, static_cast<std::int64_t>(col[k]));
    return SXT_OK;
  });
}

}  // namespace sextant::plugin
