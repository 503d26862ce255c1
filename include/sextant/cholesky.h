/* SPDX-License-Identifier: BSD-3-Clause */
/* Sparse Cholesky factorisation: the part of the C interface that sextant.h brings in with the rest.
 *
 * An analysis holds what depends on the pattern of A alone: the order of elimination and the structure of L. A cholesky
 * object holds one factor: it is factored again and again with new values on that pattern, without analysis and without
 * allocation. A is real symmetric or complex Hermitian, as for sxt_pcg_create. An example, and how it chooses: docs/cholesky.md. */
#ifndef SEXTANT_CHOLESKY_H
#define SEXTANT_CHOLESKY_H

#include "sextant/sextant.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The order of elimination and the structure of L, of one pattern. */
typedef struct sxt_analysis sxt_analysis;
/* One factor on such a structure. */
typedef struct sxt_cholesky sxt_cholesky;

/* What A is factored into. */
typedef int32_t sxt_factorization;
enum {
  SXT_LLH = 1, /* A = P^H L L^H P: A is positive definite (Cholesky) */
  SXT_LDLH = 2 /* A = P^H L D L^H P without interchanges: also quasi-definite A; D is real and diagonal */
};

/* What becomes of a pivot whose size is no larger than pivot_tolerance. LLH: one below minus the tolerance fails under every
 * policy. */
typedef int32_t sxt_pivot_policy;
enum {
  SXT_PIVOT_FAIL = 0,    /* the factorisation fails and names it */
  SXT_PIVOT_PERTURB = 1, /* it becomes pivot_value with its sign (0 counts as positive) */
  SXT_PIVOT_REPLACE = 2  /* it becomes pivot_value */
};

/* Which numbers a factor of f64 or c128 consists of; one of f32 or c64 has no smaller ones, and each value means the same. In
 * single precision the factor takes half of the memory and less time; A is scaled before it by powers of two, so that its
 * values may be of any size, and every solve is refined until its residual is what rounding in the working precision leaves.
 * Where that fails for a matrix (values or condition are not for single precision), the factor is made again in the
 * working precision, and the object stays there: sxt_cholesky_info.repeated. Not with schur_rows, a pivot_policy other
 * than SXT_PIVOT_FAIL or a pivot_tolerance. */
typedef int32_t sxt_factor_precision;
enum {
  SXT_PRECISION_WORKING = 0, /* as A's values */
  SXT_PRECISION_SINGLE = 1,  /* f32, c64 */
  SXT_PRECISION_AUTO = 2,    /* one of the two, by predicted seconds of all that is expected; the first where the second is
                              * not possible */
  SXT_PRECISION_ROUNDED = 3  /* SINGLE, and wide fronts may be updated by products of numbers rounded to 11 bits (TF32), where a
                              * scheduler has them: for matrices of moderate condition */
};

/* How a pattern is analysed, and how its values will be factored. */
typedef struct {
  uint64_t struct_size;
  const char *order;            /* "metis", "amd", "dissection", "grid", "rcm", "natural", or what a plugin offers; NULL, "auto":
                                 * by predicted seconds among "grid" where the pattern is one, "amd" and "dissection" */
  const int64_t *permutation;   /* host memory, copied: permutation[k] is the row eliminated k-th, counted as A's indices are;
                                 * NULL (default): none given; not with order */
  const char *scheduler;        /* kernel name; NULL: the model chooses */
  sxt_factorization factorization; /* default SXT_LLH */
  sxt_pivot_policy pivot_policy;   /* default SXT_PIVOT_FAIL */
  double pivot_tolerance;       /* default 0 */
  double pivot_value;           /* default 0: machine epsilon times the largest entry of A (times 1 where that is 0) */
  int64_t amalgamation;         /* supernodes narrower than this may be joined; 0 (default): the model chooses */
  int64_t block;                /* columns of a block column, at most; 0 (default): the model chooses */
  const int64_t *schur_rows;    /* host memory, copied: rows left unfactored, distinct, counted as A's indices are */
  int64_t n_schur;              /* default 0 */
  double expected_factors, expected_solves; /* how often each will be run, for the choice; below 1 counts as 1; default 1 */
  int64_t expected_rhs;         /* right-hand sides of a solve; default 1 */
  double symmetry_tolerance;    /* as in sxt_pcg_options; default 0 */
  int32_t check_symmetry;       /* 1 (default): the values of A are compared with its transpose at each factorisation, unless
                                 * one triangle of it was given. 0: trust the caller: of a_ij and a_ji one is
                                 * read, and the order decides which */
  sxt_factor_precision factor_precision; /* default SXT_PRECISION_WORKING */
  uint64_t memory_limit;        /* bytes that a factor may take in the device's memory; 0 (default): what is there */
} sxt_analysis_options;

SXT_API void sxt_analysis_options_init(sxt_analysis_options *options, uint64_t struct_size); /* [any-thread] */
/* Chooses an order, finds the structure of L, and predicts each scheduler; allocates nothing for values. The analysis keeps
 * A alive and is about its pattern, which must be that of a symmetric matrix. SXT_E_NOT_SQUARE, SXT_E_NOT_SYMMETRIC (names an entry
 * without its mirror image), SXT_E_UNKNOWN_NAME, SXT_E_NO_KERNEL, SXT_E_NOT_SUPPORTED (an order by name that does not apply),
 * SXT_E_OVERFLOW (2^31 - 1 rows or more). [any-thread] */
SXT_API sxt_status sxt_analysis_create(sxt_matrix *a, const sxt_analysis_options *options, sxt_analysis **analysis);

/* What an analysis found and predicts. */
typedef struct {
  uint64_t struct_size;
  int64_t n, nnz_a, nnz_l;      /* nnz_l: entries of L, its diagonal included, without zeros that were added */
  int64_t stored_values;        /* numbers that a factor takes, zeros that were added included */
  int64_t supernodes, largest_front; /* largest_front: rows of the largest one */
  double flops;                 /* of a factorisation in real arithmetic */
  uint64_t factor_bytes, host_bytes, device_bytes; /* of a factor; of all that one cholesky object takes */
  double analysis_seconds;      /* measured: order and structure */
  double predicted_factor_seconds, predicted_solve_seconds; /* by the scheduler that was chosen; solve: expected_rhs */
  int64_t amalgamation, block;  /* the widths in use: sxt_analysis_options */
  sxt_value_type factor_type;   /* of the numbers of a factor: A's, or its single precision */
  int32_t reserved0;
} sxt_analysis_info;
/* Set struct_size before the call. [any-thread] */
SXT_API sxt_status sxt_analysis_get_info(const sxt_analysis *analysis, sxt_analysis_info *info);
/* The n rows in the order of elimination, counted as A's indices are; the method's name. [any-thread] */
SXT_API sxt_status sxt_analysis_get_order(const sxt_analysis *analysis, int64_t n, int64_t *permutation);
SXT_API sxt_status sxt_analysis_get_method(const sxt_analysis *analysis, char *buffer, int64_t capacity, int64_t *length);
/* The order and the widths, under the pattern's hash: loading finds the same structure without the search for an order.
 * Written as sxt_plan_save writes. SXT_E_FILE_WRITE. [any-thread] */
SXT_API sxt_status sxt_analysis_save(const sxt_analysis *analysis, const char *path);
/* options as for create; its order, permutation and widths must not be set. SXT_E_PLAN where the file is damaged or of another pattern,
 * SXT_E_FILE_READ. [any-thread] */
SXT_API sxt_status sxt_analysis_load(sxt_matrix *a, const char *path, const sxt_analysis_options *options, sxt_analysis **analysis);
/* Orders and schedulers that were considered, with predicted seconds and bytes. form: SXT_TEXT, SXT_JSON. [any-thread] */
SXT_API sxt_status sxt_analysis_explain(const sxt_analysis *analysis, int32_t form, char *buffer, int64_t capacity, int64_t *length);
SXT_API void sxt_analysis_destroy(sxt_analysis *analysis);

/* Memory for one factor, and what working on it takes. SXT_E_MEMORY names the bytes. Any number of objects of one analysis may be
 * used at once. [any-thread] */
SXT_API sxt_status sxt_cholesky_create(const sxt_analysis *analysis, sxt_cholesky **cholesky);

/* What may differ from factorisation to factorisation. */
typedef struct {
  uint64_t struct_size;
  const volatile int32_t *cancel; /* becomes non-zero in another thread: SXT_NOT_CONVERGED, and the object holds no factor */
} sxt_factor_options;
SXT_API void sxt_factor_options_init(sxt_factor_options *options, uint64_t struct_size); /* [any-thread] */

/* Factors the present values of A; a NULL: of the analysis's matrix. a has that matrix's pattern, type and context. Where a is
 * refused (SXT_E_ARGUMENT, SXT_E_TYPE, SXT_E_DIMENSION) the object keeps what it holds; after any other failure it holds no factor. It can be
 * factored again in any case. SXT_E_NOT_POSITIVE_DEFINITE (names the row, counted as A's indices
 * are, and the pivot), SXT_E_NOT_FINITE, SXT_E_NOT_SYMMETRIC, SXT_E_DIMENSION (another pattern), SXT_E_TYPE, SXT_E_PLUGIN (a third
 * party's scheduler made a factor that does not solve). A factor in single precision that fails is made again in the working one,
 * which takes memory: SXT_E_MEMORY. [exclusive] */
SXT_API sxt_status sxt_cholesky_factor(sxt_cholesky *cholesky, sxt_matrix *a, const sxt_factor_options *options);

/* Which part of a solve is made. */
typedef int32_t sxt_cholesky_step;
enum {
  SXT_STEP_ALL = 0,      /* x = A^-1 b */
  SXT_STEP_FORWARD = 1,  /* x = L^-1 P b, in the order of elimination */
  SXT_STEP_DIAGONAL = 2, /* x = D^-1 b, both in the order of elimination; a copy for LLH */
  SXT_STEP_BACKWARD = 3  /* x = P^H L^-H b, b in the order of elimination */
};

/* What may differ from solve to solve. */
typedef struct {
  uint64_t struct_size;
  sxt_cholesky_step step;       /* default SXT_STEP_ALL */
  int32_t refine_steps;          /* of iterative refinement, at most: residuals in twice the working precision. Default 0; not
                                  * with a step of its own */
  double refine_tolerance;       /* relative residual at which a right-hand side stops refining; 0 (default): machine epsilon */
  const volatile int32_t *cancel; /* becomes non-zero in another thread: SXT_NOT_CONVERGED, and x means nothing */
} sxt_cholesky_solve_options;
SXT_API void sxt_cholesky_solve_options_init(sxt_cholesky_solve_options *options, uint64_t struct_size); /* [any-thread] */

/* What a solve did. */
typedef struct {
  uint64_t struct_size;
  int32_t refined;              /* refinement steps taken: solves with the factor after the first */
  int32_t repeated;             /* 1: this solve made the factor again in the working precision */
  double residual, residual_bound; /* of the worst right-hand side: |b - A x|_2 / |b|_2, exact within the bound; NaN where refine_steps is
                                    * 0 and the factor is of the working precision */
  double solve_seconds, predicted_seconds; /* measured; by the model, without refinement */
} sxt_cholesky_solve_report;

/* n_rhs right-hand sides: column j lies at b + j ldb and x + j ldx, in values; b may be x (then ldb = ldx), else they lie apart. Plain
 * arrays as for sxt_pcg_solve_array. report may be NULL. SXT_E_STATE without a factor, or with refinement where A's values changed
 * since; SXT_E_DIMENSION, SXT_E_OVERFLOW, SXT_E_NOT_FINITE (b, with refinement). With a factor in single precision every solve
 * refines, whatever refine_steps is, and has no step of its own (SXT_E_NOT_SUPPORTED); where the factor is made again, also the errors of
 * sxt_cholesky_factor. [any-thread] beside other solves */
SXT_API sxt_status sxt_cholesky_solve(const sxt_cholesky *cholesky, int64_t n, int64_t n_rhs, const void *b, int64_t ldb, void *x,
                                      int64_t ldx, const sxt_cholesky_solve_options *options, sxt_cholesky_solve_report *report);

/* What a factor says of itself, and how the last factorisation ended. */
typedef struct {
  uint64_t struct_size;
  int32_t factored;              /* 1: there is a factor; all that follows is of it */
  sxt_value_type factor_type;    /* of its numbers. Single precision: determinant, pivots and inertia have about 7 digits, and the
                                  * inertia of an indefinite matrix is that of one so near */
  double log_determinant;        /* of |det A|; of the factored part where there is a Schur complement */
  int32_t sign;                  /* of det A */
  int32_t repeated;              /* 1: single precision did not serve, and the factor was made again in the working one */
  int64_t positive, negative, zero; /* eigenvalues of A of each sign: the inertia */
  double least_pivot, largest_pivot; /* of D, or squares of the diagonal of L, by size */
  int64_t changed_pivots;        /* by the pivot policy */
  int64_t failed_row;            /* of the last factorisation that failed, counted as A's indices are; -1: none did */
  double failed_pivot;           /* the pivot there; NaN where a value was not finite */
  double factor_seconds, predicted_factor_seconds; /* of the last factorisation: measured, by the model */
} sxt_cholesky_info;
/* Set struct_size before the call. [any-thread] */
SXT_API sxt_status sxt_cholesky_get_info(const sxt_cholesky *cholesky, sxt_cholesky_info *info);
/* Rows whose pivots the policy changed, ascending in the order of elimination, counted as A's indices are: the first capacity of
 * them, 1024 at most; *count: how many there are in all. [any-thread] */
SXT_API sxt_status sxt_cholesky_changed_pivots(const sxt_cholesky *cholesky, int64_t capacity, int64_t *rows, int64_t *count);
/* n pivots by A's rows: of D, or squares of the diagonal of L; about 7 digits of a factor in single precision. [any-thread] */
SXT_API sxt_status sxt_cholesky_diagonal(const sxt_cholesky *cholesky, int64_t n, double *pivots);
/* 1 / (|A|_1 |A^-1|_1), estimated from a few solves (Hager 1984, Higham 1988): a lower bound of the reciprocal's inverse, most often
 * within a factor of 3. SXT_E_STATE where A's values changed since. [any-thread] */
SXT_API sxt_status sxt_cholesky_rcond(const sxt_cholesky *cholesky, double *rcond);
/* The Schur complement of the rows that were left, in the order they were given: n_schur x n_schur, column-major, both triangles,
 * host memory. SXT_E_NOT_FINITE where numbers left the range of the type. [any-thread] */
SXT_API sxt_status sxt_cholesky_schur(const sxt_cholesky *cholesky, int64_t n_schur, void *schur, int64_t ld);
/* Entries (rows[k], cols[k]) of A^-1, which must be entries of A, of L or of the diagonal (SXT_E_INDEX names the one that is not), counted
 * as A's indices are: selected inversion (Takahashi, Fagan, Chin 1973; Erisman and Tinney 1975). Takes memory for another factor
 * meanwhile. Of a factor in single precision the entries have its accuracy, too. SXT_E_NOT_FINITE where an entry left the range of the
 * type. Not with a Schur complement. [any-thread] */
SXT_API sxt_status sxt_cholesky_inverse(const sxt_cholesky *cholesky, int64_t count, const int64_t *rows, const int64_t *cols,
                                        void *values);
SXT_API void sxt_cholesky_destroy(sxt_cholesky *cholesky);

#ifdef __cplusplus
}
#endif

#include "sextant/cholesky_sets.h"
#endif
