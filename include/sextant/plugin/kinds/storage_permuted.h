/* SPDX-License-Identifier: BSD-3-Clause */
/* Kinds "sxt.storage.<format>/1" for storages that build P A P^T from their own arrays, on their device: row k is row
 * perm[k] of A, and columns likewise. Where a storage does not, core builds it on the host. */
#ifndef SEXTANT_KINDS_STORAGE_PERMUTED_H
#define SEXTANT_KINDS_STORAGE_PERMUTED_H
#include "sextant/plugin/kinds/storage.h"

#define SXT_CLASS_PERMUTED 1000u /* model_class of permuted_s in profiles; no candidate of such a kernel has it */

typedef struct {
  sxt_storage_ops one;
  /* A new state of the same kind. perm: a permutation of rows in the storage's index type and space, read during the call.
   * To refresh the new state, first refresh the state it was made from; then give A's problem with that state's struct
   * as data. It allocates nothing. [setup] */
  sxt_status (*permuted)(const void *state, const void *perm, const sxt_exec *, void **out);
  /* Seconds for that by the kernel's own estimate; core multiplies them by the factor that a calibration found.
   * [any-thread] */
  double (*permuted_s)(const sxt_matrix_query *, const sxt_machine *);
} sxt_storage_permuted_ops;
#endif
