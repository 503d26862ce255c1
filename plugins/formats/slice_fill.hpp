// SPDX-License-Identifier: BSD-3-Clause
// How much padding matrices in slices of rows may take: the storages and their products refuse beyond. Header-only, not
// part of the ABI.
#pragma once

namespace sextant::plugin {

// Stored entries a nonzero beyond which the storage is refused, and a number of further ones that is always accepted.
inline constexpr double slice_fill_limit = 3, slice_fill_slack = 65536;

inline bool slices_fill_too_much(double stored, double nnz) {
  return stored - slice_fill_slack > slice_fill_limit * nnz;
}

}  // namespace sextant::plugin
