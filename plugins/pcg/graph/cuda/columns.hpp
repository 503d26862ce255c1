// SPDX-License-Identifier: BSD-3-Clause
// Predict-and-recompute in two kernels an iteration, for one right-hand side or all of several; with a preconditioner,
// its own and one more for the inner products. Blocks of vectors lie row by row: the values of a row's columns are
// adjacent, so that an entry of A, read once, is multiplied by as many values of p from one access. The device's data
// of each column, and the launches, from C++. Each throws cuda::Failure.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>

#include "control.hpp"
#include "sextant/plugin/kinds/pcg_columns.h"

namespace graph {

inline constexpr std::int32_t most_columns = SXT_PCG_COLUMNS_MAX;

// Columns that a row has room for: a power of two.
constexpr std::int32_t width_for(std::int32_t columns) {
  std::int32_t width = 1;
  while (width < columns) width *= 2;
  return width;
}

// ---- the shape of the product

// Of kernels that form inner products: few blocks of many threads, since one block adds the partial sums of all.
inline constexpr int product_threads = 1024;
inline constexpr int ahead = 4;  // entries of a row that a lane has in flight at once
inline constexpr int few_lanes = 4, some_lanes = 8,
                     many_lanes = 32;         // that share a row, or more where it has more columns
inline constexpr std::int64_t long_row = 24;  // entries from which more lanes are faster

// Columns of a lane: it reads them from a row in one access of at most 16 bytes. bytes: of a value.
constexpr int columns_a_lane(int width, std::uint64_t bytes) { return width < 2 || bytes > 8 ? 1 : 2; }
// The least number of lanes for a row of this many columns.
constexpr int least_lanes(int width, std::uint64_t bytes) {
  return std::max(few_lanes, width / columns_a_lane(width, bytes));
}
// How many share one: all of a warp where rows are long; for one column fewer, where these have all entries of a row in
// flight at once and that saves rounds.
constexpr int lanes_for(std::int64_t rows, std::int64_t nnz, std::int64_t units, int width, std::uint64_t bytes) {
  if (nnz < long_row * rows) return least_lanes(width, bytes);
  const bool few_rounds = rows * many_lanes <= 2 * units * product_threads;
  return width == 1 && !few_rounds && nnz <= ahead * some_lanes * rows ? some_lanes : many_lanes;
}

struct ColumnState {  // device
  Control control;
  double alpha, beta;  // of the step to the next iterate
  std::int32_t fresh;  // the iterate is computed, its numbers are not
  std::int32_t reserved;
};
struct ColumnStates {  // device
  ColumnState of[most_columns];
  std::uint32_t arrived;  // blocks of the running kernel that have stored their sums
  std::int32_t going;     // columns that have not ended
};

// The host's request when a block begins, for those columns that have one.
struct ColumnRequests {
  Request of[most_columns];
  std::int32_t asked[most_columns];
};

// Arguments of the kernels.
struct ColumnWork {
  sxt_value_type type;  // of A as well
  std::int32_t width;   // values of a row
  std::int64_t n;
  const std::int32_t *row_ptr, *col;  // CSR
  const void *values;
  void *x, *r, *p, *q;
  void *z, *t;  // M r and M q; NULL without M
  ColumnStates *states;
  double *partials;           // of each block, the sums of a column
  Report *reports;            // pinned
  double *squared_residuals;  // pinned; of a column's iterate k at column * room + k % room
  std::int64_t room;
  std::int32_t lanes, blocks;  // of the product: threads that share a row, and blocks
  std::int32_t step_blocks;
};

// lanes, blocks and step_blocks for a matrix with this many entries on a device with this many multiprocessors.
void shape_kernels(ColumnWork &work, std::int64_t nnz, std::int32_t units);
inline std::uint64_t partial_bytes(const ColumnWork &work) {
  return static_cast<std::uint64_t>(work.blocks) * static_cast<std::uint64_t>(work.width) * 5 * sizeof(double);
}

// Where columns come from; x NULL: zero. Those beyond the last have b NULL and get zeros.
struct ColumnSources {
  const void *b[most_columns], *x[most_columns];
};

void load_column_kernels(const ColumnWork &work, const sxt_exec &exec);
void configure_columns(const ColumnWork &work, const ColumnRequests &requests, const sxt_exec &exec);
void enter_columns(const ColumnWork &work, const ColumnSources &sources, const sxt_exec &exec);  // x, and r = b
void leave_column(const ColumnWork &work, std::int32_t column, void *x, const sxt_exec &exec);   // to neighbours in x
void column_residual(const ColumnWork &work, std::int32_t column, const void *b, const sxt_exec &exec);  // r = b - A x
// p = r in fresh columns that restart. With M, t = M r is given: z = t in fresh columns, p = t in those that restart.
void begin_columns(const ColumnWork &work, const sxt_exec &exec);
// q = A p, and for each column that goes on p'q, r'q, q'q, r'r, tests, alpha and beta. fresh: of those without numbers
// instead. With M, q = A p only: once t = M q is there,
void evaluate_columns(const ColumnWork &work, bool fresh, const sxt_exec &exec);
// forms p'q, z'q, q't, z'r and r'r, and goes on like that.
void judge_columns(const ColumnWork &work, bool fresh, const sxt_exec &exec);
// x += alpha p, r -= alpha q, p = r + beta p in each column that goes on; with M, z -= alpha t and p = z + beta p.
void step_columns(const ColumnWork &work, const sxt_exec &exec);

}  // namespace graph
