// SPDX-License-Identifier: BSD-3-Clause
// From CSR to blocks: which blocks hold an entry, how full they are, their values.
#pragma once

#include <cstdint>
#include <vector>

#include "sextant/plugin_bsr.hpp"
#include "sextant/plugin_csr.hpp"

namespace storage_bsr {

namespace plugin = sextant::plugin;

inline std::int64_t block_count(std::int64_t n, int block) { return (n + block - 1) / block; }

// The block columns of one block row, ascending.
void columns_of(const sxt_csr &a, int block, std::int64_t block_row, std::vector<std::int64_t> &columns);

// nnz / places over at most `rows_looked_at` block rows, spread evenly; NaN without entries.
double sampled_fill(const sxt_csr &a, int block, std::int64_t rows_looked_at);

// The values of a built pattern; places without an entry become zero. Every thread writes the block rows it multiplies.
sxt_status fill_values(const sxt_csr &a, const sxt_bsr &view, void *values, int team);

}  // namespace storage_bsr
