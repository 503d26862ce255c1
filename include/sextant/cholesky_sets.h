/* SPDX-License-Identifier: BSD-3-Clause */
/* Sparse Cholesky factorisations of many matrices of one pattern: the part of the C interface that sextant.h and
 * sextant/cholesky.h bring in with the rest. */
#ifndef SEXTANT_CHOLESKY_SETS_H
#define SEXTANT_CHOLESKY_SETS_H

#include "sextant/cholesky.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Many systems of one pattern, as the sweeps of circuit and power-grid codes have them: count sets of values, each with a
 * factor of its own, factored and solved in one call. On a GPU all sets share launches; on the CPU each set is one thread's
 * work, or all threads share one set after the other, as the models predict. The scheduler is chosen for count sets; a
 * set's factor has the bits that this scheduler, launched alike, gives the set alone. Sets are counted from 0, rows as A's
 * indices are. */
typedef struct sxt_cholesky_sets sxt_cholesky_sets;

/* Memory for count (1 or more) factors, and what working on them takes. expected_factors and expected_solves of the analysis
 * count calls here. SXT_E_MEMORY where that is more than memory_limit or the device has: it names the bytes, before
 * memory for a factor is asked for. SXT_E_NOT_SUPPORTED for an analysis with schur_rows, with a pivot_policy without
 * pivot_value (its default is of one matrix), with a third party's scheduler, and of a matrix made of entries with
 * duplicates. Any number of objects of
 * one analysis may be used at once. [any-thread] */
SXT_API sxt_status sxt_cholesky_sets_create(const sxt_analysis *analysis, int64_t count, sxt_cholesky_sets **sets);

/* What may differ from call to call. */
typedef struct {
  uint64_t struct_size;
  const volatile int32_t *cancel; /* becomes non-zero in another thread: SXT_NOT_CONVERGED */
  int32_t (*progress)(void *user, int64_t done, int64_t count); /* sets that are done, of those of the call; non-zero: cancel. On
                                   * the calling thread, about ten times a second, and at the end. NULL (default): none */
  void *progress_user;           /* for progress */
} sxt_cholesky_sets_options;
SXT_API void sxt_cholesky_sets_options_init(sxt_cholesky_sets_options *options, uint64_t struct_size); /* [any-thread] */

/* Factors sets first .. first + count - 1; the others keep what they hold. The values of set first + k begin at values + k
 * stride, in values of A's type: nnz of them, as many as sxt_matrix_update_values takes for A, and in that order; stride >=
 * nnz. They lie in host memory or, in the context of a device, in memory that it reaches, and are not needed after the
 * call. A's own values are not read. Allocates nothing. Sets in host memory are compared with their transposes as
 * check_symmetry says; those in the memory of a device are not: of a_ij and a_ji one is read. A set that fails leaves the
 * others factored: the status is then that of the first such set, and sxt_cholesky_sets_get_outcomes has that of each:
 * SXT_E_NOT_POSITIVE_DEFINITE, SXT_E_NOT_FINITE, SXT_E_NOT_SYMMETRIC. Where the call is refused (SXT_E_ARGUMENT,
 * SXT_E_DIMENSION, SXT_E_INDEX, SXT_E_OVERFLOW) all sets keep what they hold; cancelled, those of the call hold no factor.
 * [exclusive] */
SXT_API sxt_status sxt_cholesky_sets_factor(sxt_cholesky_sets *sets, int64_t first, int64_t count, int64_t nnz, const void *values,
                                            int64_t stride, const sxt_cholesky_sets_options *options);

/* x = A^-1 b for n_rhs right-hand sides of each of those sets: column j of set first + k lies at b + k stride_b + j ldb, and x
 * alike, in values; ldb, ldx >= n. Sets and columns may stand either way round: stride_b >= (n_rhs - 1) ldb + n, or
 * ldb >= (count - 1) stride_b + n. b may be x (then ldb = ldx and stride_b = stride_x), else they lie apart. Memory as for
 * sxt_cholesky_solve. Solutions of sets without a factor are NaN, and the others are solved; cancelled, x means nothing.
 * SXT_E_STATE where none of the sets has a factor. [any-thread] beside other solves */
SXT_API sxt_status sxt_cholesky_sets_solve(const sxt_cholesky_sets *sets, int64_t first, int64_t count, int64_t n, int64_t n_rhs,
                                           const void *b, int64_t ldb, int64_t stride_b, void *x, int64_t ldx, int64_t stride_x,
                                           const sxt_cholesky_sets_options *options);

/* Where outcomes go: arrays in host memory of one entry for each set asked about; NULL (default): not wanted. Of a
 * set without a factor log_determinant and the last two are NaN, sign and counts 0. */
typedef struct {
  uint64_t struct_size;
  sxt_status *status;            /* SXT_OK: it has a factor; SXT_E_STATE: it was never factored, or that was cancelled; else
                                  * why its last factorisation failed */
  int64_t *failed_row;           /* counted as A's indices are; -1: none did, or the set is not symmetric */
  double *failed_pivot;          /* the pivot there; NaN where a value was not finite */
  int64_t *changed_pivots;       /* how many, by the pivot policy */
  double *log_determinant;       /* of |det A| */
  int32_t *sign;                 /* of det A */
  int64_t *positive, *negative, *zero; /* eigenvalues of A of each sign: the inertia */
  double *least_pivot, *largest_pivot; /* of D, or squares of the diagonal of L, by size */
} sxt_cholesky_sets_outcomes;
SXT_API void sxt_cholesky_sets_outcomes_init(sxt_cholesky_sets_outcomes *outcomes, uint64_t struct_size); /* [any-thread] */
/* Of sets first .. first + count - 1. What follows from pivots is computed when it is first asked for, which takes
 * memory. [any-thread] */
SXT_API sxt_status sxt_cholesky_sets_get_outcomes(const sxt_cholesky_sets *sets, int64_t first, int64_t count,
                                                  const sxt_cholesky_sets_outcomes *outcomes);

/* What the sets take, and took. */
typedef struct {
  uint64_t struct_size;
  int64_t count, factored;       /* sets; those that have a factor */
  int64_t nnz;                   /* values of a set */
  uint64_t factor_bytes, host_bytes, device_bytes; /* of all factors; of all that the object takes */
  double factor_seconds, predicted_factor_seconds, predicted_solve_seconds; /* of the last call that factored, measured; of all
                                  * sets, by the model; solve: expected_rhs */
} sxt_cholesky_sets_info;
/* Set struct_size before the call. [any-thread] */
SXT_API sxt_status sxt_cholesky_sets_get_info(const sxt_cholesky_sets *sets, sxt_cholesky_sets_info *info);
/* The schedulers that were considered for so many sets, with predicted seconds and bytes, and how the chosen one works on
 * them. form: SXT_TEXT, SXT_JSON. [any-thread] */
SXT_API sxt_status sxt_cholesky_sets_explain(const sxt_cholesky_sets *sets, int32_t form, char *buffer, int64_t capacity,
                                             int64_t *length);
SXT_API void sxt_cholesky_sets_destroy(sxt_cholesky_sets *sets);

#ifdef __cplusplus
}
#endif
#endif
