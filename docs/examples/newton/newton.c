/* SPDX-License-Identifier: BSD-3-Clause */
/* A nonlinear problem by Newton's method: -u'' in two dimensions + u^3 = f on a square, the force f applied in LOADS
 * equal parts. The matrix of each step has one pattern, so it is analysed once, and each step only factors new values
 * and solves. newton [LOADS] */
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

static int row_ptr[N + 1], col[5 * N], at[N], entries; /* at[i]: where the diagonal of row i stands */
static double laplace[5 * N], values[5 * N], u[N], r[N];

/* The five-point Laplacian, rows counted from 0. */
static void laplacian(void) {
  int k = 0;
  for (int i = 0; i < N; ++i) {
    const int x = i % SIDE, y = i / SIDE;
    row_ptr[i] = k;
    if (y > 0) col[k] = i - SIDE, laplace[k++] = -1;
    if (x > 0) col[k] = i - 1, laplace[k++] = -1;
    at[i] = k;
    col[k] = i, laplace[k++] = 4;
    if (x < SIDE - 1) col[k] = i + 1, laplace[k++] = -1;
    if (y < SIDE - 1) col[k] = i + SIDE, laplace[k++] = -1;
  }
  row_ptr[N] = entries = k;
}

/* r = f - A u - u^3; returns its largest element. */
static double residual(double force) {
  double largest = 0;
  for (int i = 0; i < N; ++i) {
    r[i] = force - u[i] * u[i] * u[i];
    for (int k = row_ptr[i]; k < row_ptr[i + 1]; ++k) r[i] -= laplace[k] * u[col[k]];
    largest = fmax(largest, fabs(r[i]));
  }
  return largest;
}

/* Newton's method for one force, from the u of the one before. Returns the number of steps, -1 where it does not end.
 */
static int newton(sxt_matrix *a, sxt_cholesky *cholesky, double force) {
  double size = residual(force);
  for (int step = 0; step < 20; ++step) {
    if (size <= 1e-14) return step;
    for (int k = 0; k < entries; ++k) values[k] = laplace[k];
    for (int i = 0; i < N; ++i) values[at[i]] += 3 * u[i] * u[i];
    need(sxt_matrix_update_values(a, values, entries));
    need(sxt_cholesky_factor(cholesky, NULL, NULL)); /* no analysis, no allocation */
    need(sxt_cholesky_solve(cholesky, N, 1, r, N, r, N, NULL, NULL));
    for (int i = 0; i < N; ++i) u[i] += r[i];
    size = residual(force);
  }
  return -1;
}

int main(int argc, char **argv) {
  const int loads = argc > 1 ? atoi(argv[1]) : 4;
  laplacian();

  sxt_context *context = NULL;
  sxt_matrix *a = NULL;
  sxt_analysis *analysis = NULL;
  sxt_cholesky *cholesky = NULL;
  need(sxt_context_create(NULL, &context));
  need(sxt_matrix_from_csr(context, N, N, row_ptr, col, laplace, NULL, &a));

  sxt_analysis_options options;
  sxt_analysis_options_init(&options, sizeof options);
  options.expected_factors = 5.0 * loads; /* so many steps: a better order may pay */
  need(sxt_analysis_create(a, &options, &analysis));
  need(sxt_cholesky_create(analysis, &cholesky));

  int total = 0, ended = 1;
  for (int load = 1; load <= loads && ended; ++load) {
    const int steps = newton(a, cholesky, 0.01 * load / loads);
    ended = steps >= 0;
    total += steps;
  }
  printf("%d loads, %d steps, u = %.6f in the middle\n", loads, total, u[N / 2 + SIDE / 2]);

  sxt_cholesky_destroy(cholesky);
  sxt_analysis_destroy(analysis);
  sxt_matrix_destroy(a);
  sxt_context_destroy(context);
  return ended ? 0 : 1;
}
