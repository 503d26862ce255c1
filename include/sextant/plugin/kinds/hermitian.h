/* SPDX-License-Identifier: BSD-3-Clause */
/* Kind "sxt.hermitian/1": factor and solve a set of dense Hermitian (symmetric) systems in one call. Column-major.
 * Orders are given on the host, so that models and launches see them without reading the device.
 *
 * Factors stand as LAPACK's xPOTRF (definite) and xSYTRF / xHETRF (indefinite) leave them in the triangle that is read,
 * so that another program can use them. The padding is never touched, and the other triangle only where the query
 * allows it. The imaginary part of a diagonal is not read. b becomes the solution. The content of a system whose info
 * is not 0 is undefined, with two exceptions: info -2, -3 and -4 leave it unchanged, and an indefinite system with a
 * singular block of D (info k > 0) is factored to its end, as by xSYTRF, since its inertia is reported. No system
 * touches the memory of another.
 * A query with solution_only admits kernels that leave no such factor; core uses it only in measurements. args.batch
 * and n_rhs may be smaller than the query's; scratch made for the query then suffices. SXT_HERMITIAN_TRY_DEFINITE is
 * composed by core from the other two: a kernel may refuse it.
 *
 * SXT_HERMITIAN_SIGNED asks for A = L S L^H without interchanges. L stands in the triangle as Cholesky's factor does
 * (upper: its conjugate transpose); its diagonal is real, and S holds the diagonal's signs. A solve is L y = b,
 * y := S y, L^H x = y. There are no pivots; info k > 0 says that pivot k (1-based) is exactly zero. Nothing bounds the
 * growth of elements: core uses it only in shortcuts, where answers are checked, and a kernel may refuse it. */
#ifndef SEXTANT_KINDS_HERMITIAN_H
#define SEXTANT_KINDS_HERMITIAN_H
#include "sextant/plugin/plugin.h"

#define SXT_KIND_HERMITIAN "sxt.hermitian/1"

/* Phases. */
enum { SXT_HERMITIAN_FACTOR = 1, SXT_HERMITIAN_SOLVE = 2, SXT_HERMITIAN_FACTOR_SOLVE = 3 };
/* Definiteness, and so what is asked for: L L^H, L D L^H, the first and then the second, L S L^H. */
enum {
  SXT_HERMITIAN_DEFINITE = 1,
  SXT_HERMITIAN_INDEFINITE = 2,
  SXT_HERMITIAN_TRY_DEFINITE = 3,
  SXT_HERMITIAN_SIGNED = 4
};

/* Codes of info beside 0 and k > 0. */
enum {
  SXT_HERMITIAN_NOT_FINITE = -1, /* a NaN or infinity in the input reached a pivot, or numbers left the range on the way */
  SXT_HERMITIAN_NOT_ACTIVE = -2,
  SXT_HERMITIAN_NO_MEMORY_AT = -3, /* its pointer is NULL or not aligned to its value type */
  SXT_HERMITIAN_SHORT_LD = -4,     /* its leading dimension is smaller than its order */
  SXT_HERMITIAN_WRONG_PIVOTS = -7  /* a solve: no factorisation leaves such pivots; untouched. On a device this need not
                                    * be detected, but nothing outside the system may be read or written */
};

typedef struct {
  sxt_query q;
  int64_t batch, n_max, n_rhs;
  double sum_n1, sum_n2, sum_n3; /* sums of n, n^2, n^3 over the systems */
  int32_t phase, definiteness;   /* SXT_HERMITIAN_* */
  int32_t pointer_array, orders_vary; /* 1: matrices by pointers; 1: orders differ */
  int64_t n_min;                 /* the smallest order; a kernel for small or even orders looks here */
  sxt_triangle triangle;
  int32_t leading_vary;          /* leading dimensions come in lda_each, ldb_each */
  int32_t may_spoil;             /* 1: the other triangle may be overwritten, as some libraries do */
  int32_t solution_only;         /* 1: FACTOR_SOLVE need not leave a factor or pivots: any numbers may remain there */
} sxt_hermitian_query;

typedef struct {
  sxt_head h;
  int32_t phase, definiteness;         /* SXT_HERMITIAN_* */
  sxt_value_type value_type;
  sxt_triangle triangle;               /* which one is read and overwritten by the factor */
  int64_t batch, n_max, n_rhs;
  const int32_t *orders;               /* host; NULL: all n_max */
  const int32_t *orders_device;        /* copy in device space; given whenever orders is */
  void *a;                             /* exactly one of a with stride_a, or a_array */
  int64_t lda, stride_a;
  void *const *a_array;                /* batch pointers, in device space */
  void *b;                             /* as a; NULL when phase is FACTOR */
  int64_t ldb, stride_b;
  void *const *b_array;
  const int64_t *lda_each, *ldb_each;  /* device space; NULL: uniform */
  const uint8_t *active;               /* device space; NULL: all; systems with 0 are left alone */
  int32_t *info;                       /* device space, one a system, required. FACTOR and FACTOR_SOLVE write 0 done,
                                        * k > 0 leading minor k (1-based) is not positive (indefinite: block k of D is
                                        * singular; signed: pivot k is zero), else a code above. SOLVE reads
                                        * it: a system whose info is not 0 or that is not active is left alone, b too;
                                        * it writes only -3 and -4 */
  int32_t *pivots;                     /* device space, indefinite sets only: n_max or more a system, as xHETRF's ipiv */
  int64_t stride_pivots;
} sxt_hermitian_args;

SXT_STATIC_ASSERT(sizeof(sxt_hermitian_args) == 184, "frozen");
#endif
