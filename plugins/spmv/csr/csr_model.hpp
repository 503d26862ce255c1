// SPDX-License-Identifier: BSD-3-Clause
// What both CSR kernels say before they run: whether they apply, and what a run costs.
#pragma once

#include "sextant/kinds/spmv.h"
#include "sextant/plugin_cpu.hpp"

namespace sextant::spmv_csr {

extern const sxt_kernel rows_kernel, balanced_kernel;

extern const char *const storages[];  // CSR
extern const char *const features[];  // what imbalance() looks at

sxt_status applicable(const sxt_query *, const sxt_features *, const sxt_machine *, sxt_message *);

// The cost of one run on `threads` threads, perfectly balanced.
plugin::CpuCost cost_of(const sxt_spmv_query &, const sxt_machine &, int threads);

// Busiest thread over mean thread when rows are cut in equal numbers, from the row lengths' maximum and spread.
double row_imbalance(const sxt_spmv_query &, const sxt_features *, int threads);

// SXT_E_NOT_SUPPORTED with a sentence when the storage has columns of 64 bits.
sxt_status check_columns(const sxt_csr &, const char *kernel, const sxt_exec *);

}  // namespace sextant::spmv_csr
