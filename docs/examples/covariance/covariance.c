/* SPDX-License-Identifier: BSD-3-Clause */
/* How well a temperature field is known. It is a Gaussian field on a grid: each point is tied to its neighbours, and
 * some points are measured. Its precision matrix Q, the inverse of the covariance, is sparse. One factor of Q gives the
 * most likely field (Q x = b), log det Q, which the likelihood of a model needs, and by selected inversion the
 * variances: the diagonal of Q^-1, which is dense, and so is never made. A small dense computation confirms the
 * numbers. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "sextant/sextant.h"

enum { SIDE = 16, N = SIDE * SIDE, EVERY = 5 }; /* each fifth point in both directions is measured */
static const double tie = 4, prior = 0.01,
                    sensor = 25; /* 1 / variance: of a difference, of a point, of a measurement */

static void need(sxt_status status) {
  if (status == SXT_OK) return;
  fprintf(stderr, "%s: %s\n", sxt_status_name(status), sxt_last_error(NULL));
  exit(1);
}

static int32_t row_ptr[N + 1], col[3 * N];
static double values[3 * N], field[N], variance[N], dense[N][N];

/* The lower triangle of Q, and the right-hand side of the most likely field. */
static void make_precision(void) {
  int32_t k = 0;
  for (int32_t point = 0; point < N; ++point) {
    const int x = point % SIDE + 1, y = point / SIDE + 1, neighbours = (x > 1) + (x < SIDE) + (y > 1) + (y < SIDE);
    row_ptr[point] = k;
    if (y > 1) col[k] = point - SIDE, values[k++] = -tie;
    if (x > 1) col[k] = point - 1, values[k++] = -tie;
    col[k] = point, values[k] = prior + tie * neighbours;
    if (x % EVERY == 0 && y % EVERY == 0) {
      values[k] += sensor;
      field[point] = sensor * (15 + 0.5 * x - 0.25 * y); /* what the sensor says */
    }
    ++k;
  }
  row_ptr[N] = k;
}

/* dense = L of Q = L L^T; returns log det Q. */
static double factor_dense(void) {
  double log_determinant = 0;
  for (int i = 0; i < N; ++i)
    for (int32_t k = row_ptr[i]; k < row_ptr[i + 1]; ++k) dense[i][col[k]] = values[k];
  for (int j = 0; j < N; ++j) {
    for (int i = j; i < N; ++i) {
      for (int k = 0; k < j; ++k) dense[i][j] -= dense[i][k] * dense[j][k];
      dense[i][j] = i == j ? sqrt(dense[i][j]) : dense[i][j] / dense[j][j];
    }
    log_determinant += 2 * log(dense[j][j]);
  }
  return log_determinant;
}

/* The largest relative error of the variances: squares of a column of L^-1 add up to one of them. */
static double worst_variance(void) {
  static double v[N];
  double worst = 0;
  for (int j = 0; j < N; ++j) {
    double exact = 0;
    for (int i = 0; i < N; ++i) {
      v[i] = i == j;
      for (int k = j; k < i; ++k) v[i] -= dense[i][k] * v[k];
      v[i] = i < j ? 0 : v[i] / dense[i][i];
      exact += v[i] * v[i];
    }
    worst = fmax(worst, fabs(variance[j] - exact) / exact);
  }
  return worst;
}

int main(void) {
  make_precision();
  sxt_context *context = NULL;
  sxt_matrix *q = NULL;
  sxt_analysis *analysis = NULL;
  sxt_cholesky *cholesky = NULL;
  sxt_matrix_options triangle;
  sxt_matrix_options_init(&triangle, sizeof triangle);
  triangle.symmetry = SXT_SYMMETRIC;
  triangle.triangle = SXT_LOWER;
  need(sxt_context_create(NULL, &context));
  need(sxt_matrix_from_csr(context, N, N, row_ptr, col, values, &triangle, &q));
  need(sxt_analysis_create(q, NULL, &analysis));
  need(sxt_cholesky_create(analysis, &cholesky));
  need(sxt_cholesky_factor(cholesky, NULL, NULL));

  need(sxt_cholesky_solve(cholesky, N, 1, field, N, field, N, NULL, NULL)); /* in place */
  sxt_cholesky_info info = {.struct_size = sizeof info};
  need(sxt_cholesky_get_info(cholesky, &info));
  static int64_t points[N];
  for (int64_t i = 0; i < N; ++i) points[i] = i;
  need(sxt_cholesky_inverse(cholesky, N, points, points, variance)); /* entries (i, i) of the inverse */

  const double log_determinant = factor_dense(), worst = worst_variance();
  double least = HUGE_VAL, most = 0;
  for (int i = 0; i < N; ++i) least = fmin(least, variance[i]), most = fmax(most, variance[i]);
  printf("log det Q = %.4f; known to within %.2f to %.2f degrees\n", info.log_determinant, sqrt(least), sqrt(most));
  const int right = fabs(info.log_determinant - log_determinant) < 1e-9 * fabs(log_determinant) && worst < 1e-9;
  if (!right)
    fprintf(stderr, "the dense computation says %.4f, and variances differ by %.1e\n", log_determinant, worst);

  sxt_cholesky_destroy(cholesky);
  sxt_analysis_destroy(analysis);
  sxt_matrix_destroy(q);
  sxt_context_destroy(context);
  return right ? 0 : 1;
}
