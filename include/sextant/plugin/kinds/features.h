/* SPDX-License-Identifier: BSD-3-Clause */
/* Kind "sxt.features/1": named numbers about a matrix, for performance models. A feature kernel lists what it computes
 * and the tier it belongs to: 0 sizes only, 1 reads the row pointers, 2 samples columns, 3 reads everything. Core runs
 * it when a listed candidate asks for one of its names, caches the result with the matrix and charges it to setup.
 * A third party adds a feature by adding a kernel. problem->a: the storage the kernel lists, as for any matrix query
 * (sxt_matrix_query is the query). */
#ifndef SEXTANT_KINDS_FEATURES_H
#define SEXTANT_KINDS_FEATURES_H
#include "sextant/plugin/kinds/storage.h"

#define SXT_KIND_FEATURES "sxt.features/1"

typedef struct {
  uint64_t struct_size;
  const char *const *names; /* NULL-terminated, lower_snake_case: "row_nnz_max" */
  int32_t tier, reserved0;
  /* NULL, or: launches what the next run of this state with the same args will wait for, and does not wait. Core begins
   * all kernels whose features it needs, each in its own stream, before it runs the first. */
  sxt_status (*begin)(void *state, const sxt_head *args, const sxt_exec *exec);
} sxt_features_ops;

typedef struct {
  sxt_head h;
  uint64_t count;           /* of the names asked for */
  const char *const *names; /* each one of the kernel's own; others get NaN */
  double *values;           /* host; one a name, in the order of names */
} sxt_features_args;
#endif
