/* SPDX-License-Identifier: BSD-3-Clause */
/* Peers for the tests of `sextant bench --peers`: one that is right, one that is wrong, one that does not open. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../tools/peers/peer.h"
#include "sextant/plugin/kinds/reduction.h"
#include "sextant/plugin/kinds/vector.h"

#if defined(PEER_WRONG)
#define NAME "wrong"
#define FACTOR 1.001
#elif defined(PEER_ABSENT)
#define NAME "absent"
#define FACTOR 1.0
#else
#define NAME "plain"
#define FACTOR 1.0
#endif

static int open_peer(const char *const *folders, int32_t threads, sxt_peer_message *message) {
  (void)threads;
#if defined(PEER_ABSENT)
  snprintf(message->text, sizeof message->text, "no libabsent.so in %s", folders[0] ? folders[0] : "any folder");
  return 1;
#else
  (void)folders;
  (void)message;
  return 0;
#endif
}
static const char *version(void) { return "1.2.3"; }
static int32_t threads(void) { return 1; }

/* The state of both is the matrix itself. */
static int keep(const sxt_peer_csr *a, void **state) {
  sxt_peer_csr *copy = malloc(sizeof *copy);
  if (!copy) return 1;
  *copy = *a;
  *state = copy;
  return 0;
}
static int spmv_prepare(const sxt_peer_csr *a, const sxt_peer_effort *effort, void **state, sxt_peer_message *message) {
  (void)effort;
  (void)message;
  return keep(a, state);
}
static int spmv_run(void *state, const double *x, double *y) {
  const sxt_peer_csr *a = state;
  for (int32_t i = 0; i < a->rows; ++i) {
    double sum = 0;
    for (int32_t k = a->row_ptr[i]; k < a->row_ptr[i + 1]; ++k) sum += a->values[k] * x[a->col[k]];
    y[i] = FACTOR * sum;
  }
  return 0;
}

static int cg_prepare(const sxt_peer_csr *a, void **state, sxt_peer_message *message) {
  (void)message;
  return keep(a, state);
}
/* Jacobi's own iteration, slow but right; the wrong peer stops at once. */
static int cg_run(void *state, const double *b, double *x, double rtol, int64_t max_iterations, int64_t *iterations) {
  const sxt_peer_csr *a = state;
  double *next = malloc(sizeof(double) * (size_t)a->rows), rhs = 0;
  if (!next) return 1;
  for (int32_t i = 0; i < a->rows; ++i) rhs += b[i] * b[i], x[i] = 0;
  const int64_t limit = FACTOR > 1 ? 1 : 1000 * max_iterations;
  for (*iterations = 0; *iterations < limit; ++*iterations) {
    double residual = 0;
    for (int32_t i = 0; i < a->rows; ++i) {
      double r = b[i], diagonal = 1;
      for (int32_t k = a->row_ptr[i]; k < a->row_ptr[i + 1]; ++k) {
        r -= a->values[k] * x[a->col[k]];
        if (a->col[k] == i) diagonal = a->values[k];
      }
      residual += r * r;
      next[i] = x[i] + r / diagonal;
    }
    if (residual <= rtol * rtol * rhs) break;
    for (int32_t i = 0; i < a->rows; ++i) x[i] = next[i];
  }
  free(next);
  return 0;
}

/* A dense factor behind the matrix, column by column. */
typedef struct {
  sxt_peer_csr a;
  double l[];
} dense_factor;

static int cholesky_prepare(const sxt_peer_csr *a, void **state, sxt_peer_message *message) {
  const size_t n = (size_t)a->rows;
  dense_factor *made = malloc(sizeof *made + n * n * sizeof(double));
  (void)message;
  if (!made) return 1;
  made->a = *a;
  *state = made;
  return 0;
}
static int cholesky_factor(void *state) {
  dense_factor *f = state;
  const int32_t n = f->a.rows;
  for (int32_t k = 0; k < n * n; ++k) f->l[k] = 0;
  for (int32_t i = 0; i < n; ++i)
    for (int32_t k = f->a.row_ptr[i]; k < f->a.row_ptr[i + 1]; ++k) f->l[i + f->a.col[k] * n] = f->a.values[k];
  for (int32_t j = 0; j < n; ++j) {
    for (int32_t k = 0; k < j; ++k)
      for (int32_t i = j; i < n; ++i) f->l[i + j * n] -= f->l[i + k * n] * f->l[j + k * n];
    const double pivot = f->l[j + j * n];
    if (!(pivot > 0)) return 1;
    for (int32_t i = j; i < n; ++i) f->l[i + j * n] /= sqrt(pivot);
  }
  return 0;
}
static int cholesky_solve(void *state, const double *b, double *x, int32_t n_rhs) {
  const dense_factor *f = state;
  const int32_t n = f->a.rows;
  for (int32_t c = 0; c < n_rhs; ++c) {
    double *const y = x + (size_t)c * (size_t)n;
    for (int32_t i = 0; i < n; ++i) {
      y[i] = b[i + (size_t)c * (size_t)n];
      for (int32_t k = 0; k < i; ++k) y[i] -= f->l[i + k * n] * y[k];
      y[i] /= f->l[i + i * n];
    }
    for (int32_t i = n - 1; i >= 0; --i) {
      for (int32_t k = i + 1; k < n; ++k) y[i] -= f->l[k + i * n] * y[k];
      y[i] /= f->l[i + i * n];
    }
    for (int32_t i = 0; i < n; ++i) y[i] *= FACTOR;
  }
  return 0;
}

static int has_vector(int32_t operation) { return operation == SXT_VECTOR_AXPY; }
static int has_reduction(int32_t operation) { return operation == SXT_REDUCTION_DOT; }
static void vector(int32_t operation, int64_t n, double alpha, double beta, const double *x, double *y) {
  (void)operation;
  (void)beta;
  for (int64_t i = 0; i < n; ++i) y[i] += FACTOR * alpha * x[i];
}
static double reduce(int32_t operation, int64_t n, const double *x, const double *y) {
  double sum = 0;
  (void)operation;
  for (int64_t i = 0; i < n; ++i) sum += x[i] * y[i];
  return FACTOR * sum;
}

const sxt_peer *sxt_peer_entry(void) {
  static const sxt_peer table = {.interface_version = SXT_PEER_INTERFACE,
                                 .name = NAME,
                                 .open = open_peer,
                                 .version = version,
                                 .threads = threads,
                                 .spmv_prepare = spmv_prepare,
                                 .spmv_run = spmv_run,
                                 .spmv_release = free,
                                 .cg_prepare = cg_prepare,
                                 .cg_run = cg_run,
                                 .cg_release = free,
                                 .cholesky_prepare = cholesky_prepare,
                                 .cholesky_factor = cholesky_factor,
                                 .cholesky_solve = cholesky_solve,
                                 .cholesky_release = free,
                                 .has_vector = has_vector,
                                 .has_reduction = has_reduction,
                                 .vector = vector,
                                 .reduce = reduce};
  return &table;
}
