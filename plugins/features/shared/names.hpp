// SPDX-License-Identifier: BSD-3-Clause
// Names of features that several kernels here compute, in groups that always stand together: comma-separated strings
// for an array of names.
#pragma once

#define SXT_FEATURES_OF_SIZES "row_nnz_mean", "density"
#define SXT_FEATURES_OF_LENGTHS \
  "row_nnz_max", "row_nnz_min", "row_nnz_std", "empty_rows", "row_nnz_third", "row_nnz_above_third"
#define SXT_FEATURES_OF_CEILINGS \
  "row_nnz_sum_ceil_4", "row_nnz_sum_ceil_8", "row_nnz_sum_ceil_16", "row_nnz_sum_ceil_32"
#define SXT_FEATURES_OF_SLICES "row_nnz_sum_max_of_8", "row_nnz_sum_max_of_32"
#define SXT_FEATURES_OF_PARTS \
  "row_imbalance_2", "row_imbalance_4", "row_imbalance_8", "row_imbalance_16", "row_imbalance_32", "row_imbalance_64"
#define SXT_FEATURES_OF_WINDOWS "row_nnz_sum_sorted_512", "row_nnz_sum_mod_8", "sorted_512"
#define SXT_FEATURES_OF_X \
  "x_line_fraction", "x_miss_32k", "x_miss_1m", "x_miss_32m", "x_miss_unit_cache", "x_miss_cache"
#define SXT_FEATURES_OF_BLOCKS \
  "block_fill_2", "block_fill_3", "block_fill_4", "block_fill_5", "block_fill_6", "block_fill_7", "block_fill_8"
#define SXT_FEATURES_OF_BANDS "bandwidth_least", "diagonals_least"
#define SXT_FEATURES_OF_STRIPS "strips_of_8", "strips_of_8_gathered"
#define SXT_FEATURES_OF_COLUMNS "bandwidth", "diagonals", "diagonal_fill", "column_span_mean", "symmetric_diagonals"
