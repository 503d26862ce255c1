// SPDX-License-Identifier: BSD-3-Clause
// The CSR kernels before they run: whether they apply, and the cost of a run.
#pragma once

#include "sextant/sdk/cpu/spmv.hpp"

namespace sextant::spmv_csr {

extern const sxt_kernel rows_kernel, simd_kernel, balanced_kernel;

extern const char *const storages[];  // CSR
// The features of the models: x first (sdk/cpu/spmv.hpp), then rows.
extern const char *const features[];
enum { feature_row_max = plugin::n_x_features, feature_ceil_8 = feature_row_max + plugin::n_row_features };
enum { feature_unforeseen = feature_ceil_8 + 1, feature_unforeseen_8 };

// Rows of unforeseen lengths that a core's branch predictor has room for, when the same product runs again and again.
inline constexpr double predicted_rows = 3000;

sxt_status applicable(const sxt_query *, const sxt_features *, const sxt_machine *, sxt_message *);

// The cost of one run without padding, imbalance or the extra cost of a transpose; scalar: one multiply-add after the
// other.
plugin::SpmvCost cost_of(const sxt_spmv_query &, const sxt_machine &, bool scalar);

// Rows whose end is mispredicted; in_lanes: by the number of steps of eight entries.
double row_mispredictions(const sxt_spmv_query &, const sxt_features *, int threads, bool in_lanes);

// Entries with every row rounded up to eight lanes.
double lanes_of(const sxt_spmv_query &, const sxt_features *);

// SXT_E_NOT_SUPPORTED with a sentence when the storage has columns of 64 bits.
sxt_status check_columns(const sxt_csr &, const char *kernel, const sxt_exec *);

}  // namespace sextant::spmv_csr
