/* SPDX-License-Identifier: BSD-3-Clause */
/* Conjugate gradients: the part of the C interface that sextant.h brings in with the rest. */
#ifndef SEXTANT_PCG_H
#define SEXTANT_PCG_H

#include "sextant/sextant.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef int32_t sxt_norm; /* of residuals: the 2-norm, or the largest |re| + |im| of an element */
enum { /* values of sxt_norm */ SXT_NORM_2 = 0, SXT_NORM_MAX = 1 };

typedef struct { /* What a set-up solves, how exactly, and what the choice may assume */
  uint64_t struct_size;
  const char *preconditioner;  /* NULL or "auto", "none", "jacobi", or what a plugin offers */
  const char *recurrence;      /* NULL or "auto", "classical" (Hestenes and Stiefel 1952), "chronopoulos-gear" (Chronopoulos
                                * and Gear 1989), "predict-recompute" (Chen and Carson 2020) */
  const char *engine;          /* kernel name; NULL: the model chooses */
  const char *format;          /* storage of A, "csr" or a kind id, "csr:f32" with values in f32; NULL, "auto": the model chooses */
  double rtol, atol;           /* stop when |b - A x| <= max(rtol |b|, atol). rtol negative (default): as A's precision allows,
                                * 1e-8 for f64 and c128, 1e-5 for f32 and c64; atol: default 0 */
  sxt_norm norm;               /* of that test; default SXT_NORM_2 */
  int32_t check_symmetry;      /* 1 (default): compare A with its transpose at set-up, unless one triangle of it was given;
                                * see symmetry_tolerance. 0: trust the caller */
  int64_t max_iterations;      /* 0 (default): 10 n, at least 1000 */
  double divergence_limit;     /* stop as diverged when |r| exceeds this many times |r0|, above 0; default 1e8 */
  int64_t stagnation_window;   /* stop as stagnated after so many iterations without a new least residual; 0: 10000 */
  double time_limit;           /* seconds of one solve; 0 (default): none */
  double expected_solves;      /* expected number of solves with this set-up, for the choice; below 1 counts as 1;
                                * default 1 */
  double expected_iterations;  /* 0 (default): estimated */
  int32_t probe;               /* 0 (default): estimate iterations from some on the matrix itself where that costs little
                                * beside the solves, then negative: never, by the order alone. Positive: at most so many */
  int32_t reorder;             /* rows in another order: 0 (default): where predicted to pay; negative: never; positive: always */
  const void *null_space;      /* host memory, copied: null_space_size vectors that A turns into 0, each of n values of A's
                                * type, one after the other; NULL: one, of equal values */
  int64_t null_space_size;     /* 0 (default): A is definite. Else, 32 at most, A is semidefinite, x is solved for
                                * outside its null space, and the part of b in the null space is left out:
                                * docs/pcg_matrices.md */
  double symmetry_tolerance;   /* a_ij and conj(a_ji) that differ by no more than this times sqrt(a_ii a_jj) count as equal: A is
                                * replaced by (A + A^H) / 2, to which x and the residuals then belong. 0 (default): what
                                * rounding explains, 5.7e-14 (f32 and c64: 3.1e-5), or one unit of rounding of the smaller of
                                * the sums of magnitudes in rows i and j: docs/pcg_matrices.md */
} sxt_pcg_options;

SXT_API void sxt_pcg_options_init(sxt_pcg_options *options, uint64_t struct_size); /* [any-thread] */
/* Checks A, chooses preconditioner, storage, kernels, recurrence and engine by predicted time to solution, and builds them.
 * A real symmetric or complex Hermitian, positive diagonal, of any scale: far from 1 it is multiplied by a power of
 * two. SXT_E_NOT_SQUARE, SXT_E_NOT_SYMMETRIC (names an entry), SXT_E_DIAGONAL and SXT_E_NOT_POSITIVE_DEFINITE (name the
 * row), SXT_E_UNKNOWN_NAME, SXT_E_NO_KERNEL; SXT_E_ARGUMENT also for vectors that are not in A's null space. How the
 * choice is made, and the sources of the methods: docs/pcg_plans.md. [any-thread] */
SXT_API sxt_status sxt_pcg_create(sxt_matrix *a, const sxt_pcg_options *options, sxt_pcg **pcg);

typedef struct { /* What holds for one solve */
  uint64_t struct_size;
  int32_t use_initial_guess;   /* 1: x holds a guess (warm start); 0 (default): start from zero */
  int32_t reserved0;
  double rtol, atol;           /* negative (default): as at set-up */
  int64_t max_iterations;      /* 0 (default): as at set-up */
  double time_limit;           /* negative (default): as at set-up */
  int32_t (*progress)(void *user, int64_t iteration, double relative_residual); /* non-zero: cancel. On the solving thread */
  void *progress_user;
  const volatile int32_t *cancel; /* becomes non-zero in another thread: cancel. Read by acquire: store it atomically */
  double *history;             /* recursive residual norms from iteration 0, written as they come; NULL: not kept */
  int64_t history_capacity;    /* further ones are dropped */
  volatile int64_t *history_length; /* how many are written, stored by release as they come: another thread that loads
                                     * it atomically, by acquire, may read that many during the solve. May be NULL */
} sxt_solve_options;

typedef struct { /* How a solve ended, by its reason, and what it took */
  uint64_t struct_size;
  sxt_reason reason;
  int32_t reserved0;
  int64_t iterations;            /* for a failure: the iteration it was found in */
  double rhs_norm, residual_norm;/* |b| and |b - A x| in the caller's norm, computed from the x returned */
  double true_relative_residual; /* residual_norm / |b|; residual_norm when b = 0 */
  double recursive_residual;     /* the recurrence's own residual, in the 2-norm of the system it works on */
  int64_t confirmations, replacements, products, reductions; /* true residuals computed; residuals replaced; products
                                                              * with A; waits for results */
  double setup_seconds, solve_seconds;                     /* measured */
  double predicted_setup_seconds, predicted_solve_seconds; /* the solve's for the iterations that it took */
  /* What the choice assumed: iterations of one solve to the tolerance of the set-up, from how many iterations of a
   * probe (0: assumed), and the seconds of the probe, which setup_seconds includes. */
  double predicted_iterations;
  int64_t probe_iterations;
  double probe_seconds;
  int64_t launches; /* launches by the engine on the host: kernels, graphs, runs of parts; 0: not counted */
  double null_space_norm; /* the part left out of b, in the caller's norm; rhs_norm and the residuals belong to the
                           * rest */
  /* Parts of solve_seconds, each of one: an iteration without its confirmation, and a true residual. 0 where none was
   * made, or where columns of a block were solved together. */
  double iteration_seconds, residual_seconds, predicted_iteration_seconds, predicted_residual_seconds;
  /* In the caller's norm (docs/residual.md): the exact |b - A x| is within residual_bound of residual_norm; rounding the exact
   * solution to the type of x may move it by up to rounding_limit. 0 where the report comes from a captured graph. */
  double residual_bound, rounding_limit;
} sxt_pcg_report;

SXT_API void sxt_solve_options_init(sxt_solve_options *options, uint64_t struct_size); /* [any-thread] */
/* Solves A x = b; b and x have A's order, type and context and do not overlap. SXT_OK only when the true residual met
 * the tolerance; SXT_NOT_CONVERGED with a typed reason otherwise, x then holds the last good iterate. b = 0 gives x =
 * 0. report may be NULL; set its struct_size before the call; it is filled also when SXT_NOT_CONVERGED is returned; a
 * solve in a capture: docs/pcg_capture.md. SXT_E_DIMENSION, SXT_E_TYPE, SXT_E_NOT_FINITE (names the entry of b or the
 * guess). Threads may share a set-up, with their own b and x. [any-thread] */
SXT_API sxt_status sxt_pcg_solve(sxt_pcg *pcg, const sxt_vector *b, sxt_vector *x, const sxt_solve_options *options,
                                 sxt_pcg_report *report);
/* The same on plain arrays of n values. In a device's context each may be host memory, which is copied there and back
 * through memory that the set-up keeps, or memory that the device reaches, which is used in place, in the order that
 * sxt_context_set_stream describes. [any-thread] */
SXT_API sxt_status sxt_pcg_solve_array(sxt_pcg *pcg, int64_t n, const void *b, void *x, const sxt_solve_options *options,
                                       sxt_pcg_report *report);
/* n_rhs independent systems with one matrix: column j lies at b + j ldb and x + j ldx (in values; ldb, ldx >= n). Each column
 * is solved as by sxt_pcg_solve_array and stops independently; reports: NULL or n_rhs of them, struct_size set in each.
 * Columns of b and of x do not overlap; SXT_E_OVERFLOW. A history of column j begins at history + j history_capacity,
 * its length is history_length[j]; time_limit applies to each column. SXT_NOT_CONVERGED when any column did not
 * converge; the others are still solved. Cancelling one column cancels those after it. [any-thread] */
SXT_API sxt_status sxt_pcg_solve_block(sxt_pcg *pcg, int64_t n, int64_t n_rhs, const void *b, int64_t ldb, void *x, int64_t ldx,
                                       const sxt_solve_options *options, sxt_pcg_report *reports);

/* The plan: the kernel chosen for each part, the alternatives, predicted costs, and why others were refused. form:
 * SXT_TEXT, SXT_JSON. [any-thread] */
SXT_API sxt_status sxt_pcg_explain(const sxt_pcg *pcg, int32_t form, char *buffer, int64_t capacity, int64_t *length);
SXT_API void sxt_pcg_destroy(sxt_pcg *pcg);

#ifdef __cplusplus
}
#endif
#endif
