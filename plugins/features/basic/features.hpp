// SPDX-License-Identifier: BSD-3-Clause
// The feature kernels of this folder and the kind they serve.
#pragma once

#include "sextant/kinds/features.h"

namespace sextant::features_basic {

extern const sxt_kernel rows_kernel;       // features.basic.cpu: row lengths
extern const sxt_kernel columns_kernel;    // features.columns.cpu: where the columns lie
extern const sxt_kernel reference_kernel;  // features.reference.cpu: all of them, plainly
extern const sxt_kind kind;

extern const char *const storages[];  // CSR

// Every feature kernel here keeps the matrix and nothing else.
struct State {
  const sxt_csr *a;
};
sxt_status prepare(const sxt_problem *, const sxt_candidate *, const sxt_filled *, const sxt_exec *, void **state);
sxt_status refresh(void *state, const sxt_problem *, const sxt_exec *);

}  // namespace sextant::features_basic
