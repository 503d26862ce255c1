// SPDX-License-Identifier: BSD-3-Clause
// What storages share on every device: the test of new values, and which triangles of the source a storage keeps.
#pragma once

#include <cstdint>

#include "sextant/sdk/describe.hpp"
#include "sextant/sdk/storage_kernel.hpp"

namespace sextant::plugin {

// A refresh brings values for the pattern that was converted, of nnz entries.
inline sxt_status check_new_values(const sxt_csr &source, std::int64_t nnz, const sxt_exec *exec) {
  if (source.s.nnz == nnz) return SXT_OK;
  return error(exec, SXT_E_DIMENSION, "%lld new values for a pattern of %lld entries", (long long)source.s.nnz,
               (long long)nnz);
}

// Which entries of its source a storage keeps.
struct Kept {
  bool lower = true, diagonal = true, upper = true;
  bool operator()(std::int64_t i, std::int64_t j) const { return j < i ? lower : j > i ? upper : diagonal; }
  bool all() const { return lower && diagonal && upper; }
  Kept triangle(sxt_triangle which, std::int32_t with_diagonal) const {
    return {lower && which != SXT_UPPER, diagonal && with_diagonal, upper && which != SXT_LOWER};
  }
};

}  // namespace sextant::plugin
