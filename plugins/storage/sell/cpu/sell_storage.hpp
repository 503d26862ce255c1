// SPDX-License-Identifier: BSD-3-Clause
// The state of the SELL storage and how it is built from rows.
#pragma once

#include <cstdint>

#include "plugins/storage/shared/owned_values.hpp"
#include "sextant/sdk/cpu/csr.hpp"
#include "sextant/sdk/cpu/spmv.hpp"

namespace sextant::storage_sell {

inline constexpr std::int32_t slice = 8, sigma = 512;

struct State {
  sxt_sell view{};
  plugin::Memory slice_ptr, perm, col, values;  // perm empty: the identity
  plugin::Kept kept;                            // entries of the source
  std::int64_t source_nnz = 0;

  std::int64_t stored() const { return view.n_slices ? slice_ptr.as<std::int64_t>()[view.n_slices] : 0; }
  std::int64_t row_of(std::int64_t slot) const { return perm.data() ? perm.as<std::int32_t>()[slot] : slot; }
};

// Orders the rows, lays out the slices and fills them from the kept entries of a. The view's sizes and types are set.
sxt_status build(State &state, const sxt_csr &a, const sxt_exec *exec);

// Takes new values from a, whose pattern is unchanged. Allocates nothing.
sxt_status fill_values(State &state, const sxt_csr &a, const sxt_exec *exec);

}  // namespace sextant::storage_sell
