/* SPDX-License-Identifier: BSD-3-Clause */
/* Kinds "sxt.storage.<format>/1" for storages that make P A P^T of what they hold, on their device: row k is row perm[k]
 * of A, and so with columns. Where a storage does not, core makes it on the host. */
#ifndef SEXTANT_KINDS_STORAGE_PERMUTED_H
#define SEXTANT_KINDS_STORAGE_PERMUTED_H
#include "sextant/plugin/kinds/storage.h"

#define SXT_CLASS_PERMUTED 1000u /* model_class of permuted_s in profiles; no candidate of such a kernel has it */

typedef struct {
  sxt_storage_ops one;
  /* A new state of the same kind. perm: a permutation of rows in the storage's index type and space, read during the call.
   * Refreshing the new state takes A's problem, with the struct of the state it was made from, refreshed before, as data;
   * it allocates nothing. [setup] */
  sxt_status (*permuted)(const void *state, const void *perm, const sxt_exec *, void **out);
  /* Seconds of that by the kernel's own arithmetic; core multiplies them by what a calibration found. [any-thread] */
  double (*permuted_s)(const sxt_matrix_query *, const sxt_machine *);
} sxt_storage_permuted_ops;
#endif
