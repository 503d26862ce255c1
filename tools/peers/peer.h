/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of another library that `sextant bench --peers` measures. A peer is a shared object that exports
 * sxt_peer_entry; the command loads it at run time and links nothing. Functions a peer does not offer are NULL. Those
 * that return int return 0 when done; else they have written a sentence into the message. All values are f64, all
 * indices i32. */
#ifndef SEXTANT_TOOLS_PEER_H
#define SEXTANT_TOOLS_PEER_H
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SXT_PEER_INTERFACE 2 /* raised when this header changes incompatibly */
#define SXT_PEER_ENTRY "sxt_peer_entry"

/* Where sentences go; always terminated. */
typedef struct {
  char text[1024];
} sxt_peer_message;

/* A canonical zero-based matrix, borrowed: it stays until the state made from it is released. */
typedef struct {
  int32_t rows, cols, nnz;
  const int32_t *row_ptr, *col;
  const double *values;
} sxt_peer_csr;

/* How much set-up a peer may do. */
typedef struct {
  int32_t expected_runs; /* the same number that the library's own choice gets */
  int32_t tune;          /* 1: search for a better storage by measuring, without a time limit */
} sxt_peer_effort;

typedef struct {
  uint32_t interface_version; /* SXT_PEER_INTERFACE */
  uint32_t own_threads;       /* 1: keeps its own threads, which may spin for a while after a call */
  const char *name;
  /* Finds the library in the folders (NULL-terminated; then where the loader looks) and sets it to this many threads.
   * Called once. The message lists where it looked. */
  int (*open)(const char *const *folders, int32_t threads, sxt_peer_message *message);
  const char *(*version)(void);  /* of the library, after open */
  const char *(*location)(void); /* the file it was loaded from; NULL: linked into the peer object */
  int32_t (*threads)(void);      /* how many it will use, by its own report */

  /* y = A x */
  int (*spmv_prepare)(const sxt_peer_csr *a, const sxt_peer_effort *effort, void **state, sxt_peer_message *message);
  int (*spmv_run)(void *state, const double *x, double *y);
  void (*spmv_release)(void *state);

  /* Conjugate gradients with the inverse diagonal as preconditioner, from x = 0 until |r| <= rtol |b| in the 2-norm of
   * the unpreconditioned recursive residual. */
  int (*cg_prepare)(const sxt_peer_csr *a, void **state, sxt_peer_message *message);
  int (*cg_run)(void *state, const double *b, double *x, double rtol, int64_t max_iterations, int64_t *iterations);
  void (*cg_release)(void *state);

  /* Operations by the numbers of sextant/plugin/kinds/vector.h and sextant/plugin/kinds/reduction.h. The run functions are only
   * called with numbers for which has_... returned 1. */
  int (*has_vector)(int32_t operation);
  int (*has_reduction)(int32_t operation);
  void (*vector)(int32_t operation, int64_t n, double alpha, double beta, const double *x, double *y);
  double (*reduce)(int32_t operation, int64_t n, const double *x, const double *y); /* iamax: the zero-based index */

  /* A direct solve of a symmetric positive definite matrix, of which both triangles are given: order and structure; the
   * factorisation of the matrix's present values; n_rhs right-hand sides, column after column without gaps. */
  int (*cholesky_prepare)(const sxt_peer_csr *a, void **state, sxt_peer_message *message);
  int (*cholesky_factor)(void *state);
  int (*cholesky_solve)(void *state, const double *b, double *x, int32_t n_rhs);
  void (*cholesky_release)(void *state);
} sxt_peer;

/* The table; static. */
__attribute__((visibility("default"))) const sxt_peer *sxt_peer_entry(void);

#ifdef __cplusplus
}
#endif
#endif
