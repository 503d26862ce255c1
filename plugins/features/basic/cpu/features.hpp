// SPDX-License-Identifier: BSD-3-Clause
// The feature kernels of this folder, their kind, and shared helpers.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>

#include "sextant/plugin/kinds/features.h"

namespace sextant::features_basic {

extern const sxt_kernel sizes_kernel;      // features.sizes.cpu: from the numbers of rows, columns and entries
extern const sxt_kernel rows_kernel;       // features.rows.cpu: row lengths
extern const sxt_kernel order_kernel;      // features.order.cpu: how row lengths follow one another
extern const sxt_kernel sample_kernel;     // features.sample.cpu: locality, blocks and diagonals from a sample
extern const sxt_kernel columns_kernel;    // features.columns.cpu: where the columns lie
extern const sxt_kernel reference_kernel;  // features.reference.cpu: all but the cache model, plainly
extern const sxt_kind kind;

extern const char *const storages[];  // CSR

// Every feature kernel here keeps only the matrix and its candidate's launch.
struct State {
  const sxt_csr *a;
  std::int64_t launch[4];  // [0]: threads
};
sxt_status prepare(const sxt_problem *, const sxt_candidate *, const sxt_filled *, const sxt_exec *, void **state);
sxt_status refresh(void *state, const sxt_problem *, const sxt_exec *);

// A kernel over CSR with the functions above; run and candidates are the caller's.
sxt_kernel feature_kernel(const char *name, const char *description, const sxt_features_ops *ops,
                          decltype(sxt_kernel::candidates) candidates, decltype(sxt_kernel::run) run);

// Whether one of `names` (NULL-terminated) is requested.
inline bool wants(const sxt_features_args &args, const char *const *names) {
  for (std::uint64_t i = 0; i < args.count; ++i)
    for (const char *const *each = names; *each; ++each)
      if (!std::strcmp(args.names[i], *each)) return true;
  return false;
}

// Writes values (one for each of `own`) in the requested order; NaN for other names.
inline sxt_status answer(const sxt_features_args &args, const char *const *own, const double *values) {
  for (std::uint64_t i = 0; i < args.count; ++i) {
    args.values[i] = std::numeric_limits<double>::quiet_NaN();
    for (std::uint64_t k = 0; own[k]; ++k)
      if (!std::strcmp(args.names[i], own[k])) args.values[i] = values[k];
  }
  return SXT_OK;
}

}  // namespace sextant::features_basic
