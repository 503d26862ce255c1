/* SPDX-License-Identifier: BSD-3-Clause */
/* Batches of Hermitian systems: the part of the C interface that sextant.h brings in with the rest. */
#ifndef SEXTANT_HERMITIAN_H
#define SEXTANT_HERMITIAN_H

#include "sextant/sextant.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Factors and solves sets of dense real symmetric or complex Hermitian systems, column-major, of one order or of mixed
 * ones, in one call. One triangle is read and overwritten by the factor in LAPACK's layout; the other one and the padding
 * are never touched; the imaginary part of a diagonal is not read. Systems are independent: one that fails reports it
 * in its own info, and the others are solved all the same. An example, and how kernels are chosen:
 * docs/hermitian.md. */
typedef struct sxt_hermitian sxt_hermitian;

typedef int32_t sxt_definiteness; /* what is known of the systems of a set */
enum { /* values of sxt_definiteness */
  SXT_DEFINITE = 1,    /* Cholesky */
  SXT_INDEFINITE = 2,  /* L D L^H with the partial pivoting of Bunch and Kaufman (1977) */
  SXT_TRY_DEFINITE = 3 /* Cholesky, then L D L^H for the systems that failed; those alone have pivots other than 0 */
};

/* Alternatives to a whole factorisation, for sxt_hermitian_factor_solve: bits of sxt_hermitian_options.shortcuts. Each
 * answer's backward error is checked, and a system that does not pass is factored as if no shortcut had been tried. A
 * system that passes leaves no factor, and its inertia is not known. */
enum {
  SXT_SHORTCUT_TOEPLITZ = 1, /* matrices whose diagonals hold equal numbers are looked for and solved by recursion (Levinson 1947): O(n^2) */
  SXT_SHORTCUT_MIXED = 2,    /* f64, c128: factored in single precision, then refined; only where a condition allows it */
  SXT_SHORTCUT_ALWAYS = 4,   /* combined with others: try them even where the models predict no gain */
  SXT_SHORTCUT_BUTTERFLY = 8 /* indefinite sets: mixed by random butterflies (Parker 1995), factored without interchanges, then refined; not with MIXED at once */
};

/* info of a system: 0 done; k > 0: leading minor k (from 1) is not positive, or block k of D is singular; else: */
enum {
  SXT_INFO_NOT_FINITE = -1, /* a NaN or infinity in the matrix, or numbers that leave the range as it is factored */
  SXT_INFO_NOT_ACTIVE = -2, /* switched off by the mask, and untouched */
  SXT_INFO_POINTER = -3,    /* its pointer is NULL or not aligned to its value type; untouched */
  SXT_INFO_LEADING = -4     /* its leading dimension is smaller than its order; untouched */
};

typedef struct { /* What the sets of a solver are, and how they are solved */
  uint64_t struct_size;
  sxt_value_type value_type;     /* default SXT_F64 */
  sxt_triangle triangle;         /* the one that is read; default SXT_LOWER */
  sxt_definiteness definiteness; /* default SXT_DEFINITE */
  sxt_space space;               /* of every array of a set; default -1: the context's own. Host sets of a device's context
                                  * pass through device memory in pieces, copies overlapping the work, or, with device = auto,
                                  * are computed on the CPU where that is predicted to end sooner: docs/hermitian.md */
  int64_t batch;                 /* systems in a set */
  int64_t n;                     /* their order, or the largest */
  const int32_t *orders;         /* host memory, copied; NULL (default): all n */
  int64_t n_rhs;                 /* right-hand sides a system, at most; default 1 */
  int32_t pointer_array;         /* 1: sets come as arrays of pointers; default 0: strided */
  int32_t leading_vary;          /* 1: each system has its own leading dimension; default 0 */
  int32_t equilibrate;           /* 1: rows and columns scaled by powers of two to a diagonal near 1; default 0 */
  int32_t refine_steps;          /* of iterative refinement, at most; default 0 */
  double refine_tolerance;       /* backward error at which a system stops refining; 0 (default): machine epsilon */
  const double *shifts;          /* host memory, copied: A + shifts[0] I is factored; a system that fails is tried again */
  int64_t n_shifts;              /* with each further one in turn. 0 (default): A itself */
  int32_t shift_relative;        /* 1: shifts are multiples of the mean of a system's diagonal; default 0 */
  int32_t may_spoil;             /* 1: the other triangle may be overwritten, which admits kernels of other libraries that
                                  * do so; default 0 */
  uint64_t workspace_limit;      /* bytes beside the set; 0 (default): what is needed. Sets are then worked on in pieces */
  double expected_runs;          /* how often, for the choice of kernels; default 1 */
  const char *kernel;            /* only this kernel; NULL: the model chooses */
  int32_t shortcuts;             /* SXT_SHORTCUT_*; 0 (default): none, and factors stand after every call. Not taken where a
                                  * call equilibrates, has several shifts or asks for rcond or inertia */
  int32_t reserved0;             /* 0 */
} sxt_hermitian_options;

/* One set. Everything but this struct lies in the stated space; [n] means one entry for each system. With pointer_array
 * the members *_array are used in place of a, factor, b, x and their strides. Leading dimensions of 0 mean n, strides
 * of 0 the least that fits; with leading_vary strides must be given. */
typedef struct {
  uint64_t struct_size;
  void *a;                  /* the matrices */
  int64_t lda, stride_a;    /* in values */
  void *const *a_array;     /* [n] */
  const int64_t *lda_each;  /* [n] with leading_vary; ldb_each alike */
  void *factor;             /* where factors go, or come from in a solve; NULL (default): a itself. In the layout of a; when
                             * a host set is worked on by a device, all of it is written. x alike */
  void *const *factor_array;
  void *b;                  /* the right-hand sides, and the solutions unless x is given */
  int64_t ldb, stride_b;
  void *const *b_array;
  const int64_t *ldb_each;
  void *x;                  /* where solutions go; NULL (default): b itself. In the layout of b */
  void *const *x_array;
  int64_t n_rhs;            /* of this call; 0 (default): as described */
  const uint8_t *active;    /* [n] systems with 0 are left alone; NULL (default): all are active */
  uint8_t *active_out;      /* [n] 1 where info is 0; may be NULL, and be active itself */
  int32_t *info;            /* [n] required. A solve reads it and skips systems where it is not 0 */
  int32_t *pivots;          /* stride_pivots a system: LAPACK's ipiv. Required unless sets are definite. A solve in host memory
                             * checks them: SXT_E_ARGUMENT; on a device wrong ones give wrong solutions */
  int64_t stride_pivots;    /* 0: n */
  double *scale;            /* n a system: what equilibrate chose. Required with it unless factor and solve are one call */
  double *residual;         /* [n] backward error |b - A x| / (|A| |x| + |b|) in the largest norm; may be NULL */
  double *rcond;            /* [n] reciprocal condition number, estimated in the 1-norm; factoring calls; may be NULL */
  double *shift;            /* [n] the shift in force: written by factoring calls; read by, and where shifts are described
                             * required for, residuals and refinement of a separate solve; else it may be NULL */
  int32_t *inertia;         /* [n] three numbers each: positive, negative, zero eigenvalues; factoring calls; may be NULL.
                             * Written where info is 0, and where it is above 0 (a singular system) unless sets are
                             * definite: Cholesky ends at its first pivot that is not positive */
  void *stream;             /* of the device; NULL (default): the context's. Work on the arrays in other streams must
                             * have ended, except in CUDA's legacy default stream where neither is given
                             * (sxt_context_set_stream) */
  uint8_t *shortcut;        /* [n] 1 where a shortcut solved the system, so that no factor stands; written by
                             * sxt_hermitian_factor_solve; may be NULL */
} sxt_hermitian_set;

typedef struct { /* What was chosen for the sets of a solver, and what calls asked for */
  uint64_t struct_size;
  const char *factor_kernel, *solve_kernel, *factor_solve_kernel; /* "" where none was chosen; static */
  const char *pivoting_kernel;       /* of the systems that are not definite, when definite ones are tried first */
  double predicted_factor_s, predicted_solve_s, predicted_factor_solve_s; /* of the kernels, copies between devices aside */
  uint64_t workspace_bytes;          /* that the calls so far allocated beside the set */
  int64_t piece;                     /* systems worked on at once in the last call */
  double flops;                      /* real operations of factoring a set once and solving for n_rhs */
  uint64_t kernel_bytes;             /* most that the chosen kernels keep beside the set and the workspace */
  const char *toeplitz_kernel, *mixed_kernel; /* of the shortcuts that are taken; "" where none is */
  const char *butterfly_kernel;      /* alike */
} sxt_hermitian_report;

SXT_API void sxt_hermitian_options_init(sxt_hermitian_options *options, uint64_t struct_size); /* [any-thread] */
SXT_API void sxt_hermitian_set_init(sxt_hermitian_set *set, uint64_t struct_size);             /* [any-thread] */
/* Checks the description, copies it, and chooses kernels and, of host sets in an automatic context, the device. SXT_E_ARGUMENT, SXT_E_TYPE, SXT_E_OVERFLOW, SXT_E_UNKNOWN_NAME, SXT_E_NO_KERNEL. [any-thread] */
SXT_API sxt_status sxt_hermitian_create(sxt_context *context, const sxt_hermitian_options *options, sxt_hermitian **hermitian);
/* Factor; solve with factors that stand there (set->factor, else set->a); both. A status other than SXT_OK is about the
 * call: the outcome of a system is in its info. On a device's stream a call returns once its work is enqueued; calls on
 * different streams may run at once, each with its own workspace. The first call on a stream sets up and may wait: make
 * one with the same request before you capture the stream. Refining, residuals and further attempts need the matrix
 * again: a copy is kept unless set->factor is given. SXT_E_ARGUMENT, SXT_E_OVERFLOW, SXT_E_STATE (a solve where n_rhs
 * is described as 0, a first call on a stream that is being captured), SXT_E_NOT_SUPPORTED (a stream where there are
 * none), SXT_E_MEMORY states the bytes. [any-thread] */
SXT_API sxt_status sxt_hermitian_factor(sxt_hermitian *hermitian, const sxt_hermitian_set *set);
SXT_API sxt_status sxt_hermitian_solve(sxt_hermitian *hermitian, const sxt_hermitian_set *set);
SXT_API sxt_status sxt_hermitian_factor_solve(sxt_hermitian *hermitian, const sxt_hermitian_set *set);
/* What was chosen and predicted, and what calls asked for so far. Set struct_size before the call. [any-thread] */
SXT_API sxt_status sxt_hermitian_get_report(const sxt_hermitian *hermitian, sxt_hermitian_report *report);
/* The kernels considered for each phase, their predicted costs, and why others were refused. form: SXT_TEXT, SXT_JSON.
 * [any-thread] */
SXT_API sxt_status sxt_hermitian_explain(const sxt_hermitian *hermitian, int32_t form, char *buffer, int64_t capacity,
                                         int64_t *length);
SXT_API void sxt_hermitian_destroy(sxt_hermitian *hermitian);

#ifdef __cplusplus
}
#endif
#endif
