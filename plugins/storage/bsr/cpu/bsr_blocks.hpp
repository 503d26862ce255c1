// SPDX-License-Identifier: BSD-3-Clause
// From CSR to blocks: which blocks hold an entry, how full they are, their values.
#pragma once

#include <cstdint>
#include <vector>

#include "plugins/formats/bsr.hpp"
#include "sextant/sdk/cpu/csr.hpp"

namespace storage_bsr {

namespace plugin = sextant::plugin;

inline std::int64_t block_count(std::int64_t n, int block) { return (n + block - 1) / block; }

// The block columns of one block row, ascending.
void columns_of(const sxt_csr &a, int block, std::int64_t block_row, std::vector<std::int64_t> &columns);

// nnz / places in blocks of each size from 2 on, over evenly spread block rows with about this many entries in all; NaN
// without entries.
inline constexpr std::int64_t entries_looked_at = 1 << 15, least_rows_looked_at = 64;
void sampled_fills(const sxt_csr &a, int team, double (&fills)[plugin::bsr_most + 1]);

// The values of a built pattern; places without an entry become zero. Every thread writes the block rows it multiplies.
sxt_status fill_values(const sxt_csr &a, const sxt_bsr &view, void *values, int team);

}  // namespace storage_bsr
