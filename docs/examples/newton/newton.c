/* SPDX-License-Identifier: BSD-3-Clause */
/* A nonlinear problem by Newton's method: -u'' in two dimensions + u^3 = f on a square. The matrix of each step has one
 * pattern, so it is analysed once, and each step only factors new values and solves. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "sextant/sextant.h"

enum { SIDE = 60, N = SIDE * SIDE };

static void need(sxt_status status) {
  if (status == SXT_OK) return;
  fprintf(stderr, "%s: %s\n", sxt_status_name(status), sxt_last_error(NULL));
  exit(1);
}

/* The five-point Laplacian, rows counted from 0. Returns the number of entries; at[i]: where the diagonal of row i stands. */
static int laplacian(int *row_ptr, int *col, double *values, int *at) {
  int k = 0;
  for (int i = 0; i < N; ++i) {
    const int x = i % SIDE, y = i / SIDE;
    row_ptr[i] = k;
    if (y > 0) col[k] = i - SIDE, values[k++] = -1;
    if (x > 0) col[k] = i - 1, values[k++] = -1;
    at[i] = k;
    col[k] = i, values[k++] = 4;
    if (x < SIDE - 1) col[k] = i + 1, values[k++] = -1;
    if (y < SIDE - 1) col[k] = i + SIDE, values[k++] = -1;
  }
  row_ptr[N] = k;
  return k;
}

/* r = f - A u - u^3; returns its largest element. */
static double residual(const int *row_ptr, const int *col, const double *laplace, const double *u, double *r) {
  double largest = 0;
  for (int i = 0; i < N; ++i) {
    r[i] = 0.01 - u[i] * u[i] * u[i];
    for (int k = row_ptr[i]; k < row_ptr[i + 1]; ++k) r[i] -= laplace[k] * u[col[k]];
    largest = fmax(largest, fabs(r[i]));
  }
  return largest;
}

int main(void) {
  static int row_ptr[N + 1], col[5 * N], at[N];
  static double laplace[5 * N], values[5 * N], u[N], r[N];
  const int entries = laplacian(row_ptr, col, laplace, at);

  sxt_context *context = NULL;
  sxt_matrix *a = NULL;
  sxt_analysis *analysis = NULL;
  sxt_cholesky *cholesky = NULL;
  need(sxt_context_create(NULL, &context));
  need(sxt_matrix_from_csr(context, N, N, row_ptr, col, laplace, NULL, &a));

  sxt_analysis_options options;
  sxt_analysis_options_init(&options, sizeof options);
  options.expected_factors = 10; /* so many steps: a better order may pay */
  need(sxt_analysis_create(a, &options, &analysis));
  need(sxt_cholesky_create(analysis, &cholesky));

  int step = 0;
  double size = residual(row_ptr, col, laplace, u, r);
  for (; step < 20 && size > 1e-14; ++step) {
    for (int k = 0; k < entries; ++k) values[k] = laplace[k];
    for (int i = 0; i < N; ++i) values[at[i]] += 3 * u[i] * u[i];
    need(sxt_matrix_update_values(a, values, entries));
    need(sxt_cholesky_factor(cholesky, NULL, NULL)); /* no analysis, no allocation */
    need(sxt_cholesky_solve(cholesky, N, 1, r, N, r, N, NULL, NULL));
    for (int i = 0; i < N; ++i) u[i] += r[i];
    size = residual(row_ptr, col, laplace, u, r);
  }
  printf("%d steps, largest residual %.1e\n", step, size);

  sxt_cholesky_destroy(cholesky);
  sxt_analysis_destroy(analysis);
  sxt_matrix_destroy(a);
  sxt_context_destroy(context);
  return size <= 1e-14 ? 0 : 1;
}
