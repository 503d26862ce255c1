/* SPDX-License-Identifier: BSD-3-Clause */
/* The lowest frequencies of a membrane: all eigenvalues of A below a bound, A the five-point Laplacian of a rectangle.
 * Each factorisation A - shift I = L D L^H counts the eigenvalues below its shift (Sylvester's law of inertia), so that
 * none is missed, and serves one step of inverse iteration. One pattern: analysed once, factored again for each shift.
 * eigen [BOUND] */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "sextant/sextant.h"

enum { WIDTH = 40, HEIGHT = 25, N = WIDTH * HEIGHT, MOST_STEPS = 40 };

static void need(sxt_status status) {
  if (status == SXT_OK) return;
  fprintf(stderr, "%s: %s\n", sxt_status_name(status), sxt_last_error(NULL));
  exit(1);
}

static int row_ptr[N + 1], col[3 * N]; /* the lower triangle of A */
static double laplace[3 * N], values[3 * N], x[N], y[N];

static void assemble(void) {
  int k = 0;
  for (int i = 0; i < N; ++i) {
    row_ptr[i] = k;
    if (i >= WIDTH) col[k] = i - WIDTH, laplace[k++] = -1;
    if (i % WIDTH > 0) col[k] = i - 1, laplace[k++] = -1;
    col[k] = i, laplace[k++] = 4; /* the last entry of the row */
  }
  row_ptr[N] = k;
}

/* Factors A - shift I; returns how many eigenvalues of A lie below the shift. */
static int64_t factor(sxt_matrix *a, sxt_cholesky *cholesky, double shift) {
  for (int k = 0; k < row_ptr[N]; ++k) values[k] = laplace[k];
  for (int i = 0; i < N; ++i) values[row_ptr[i + 1] - 1] -= shift;
  need(sxt_matrix_update_values(a, values, row_ptr[N]));
  need(sxt_cholesky_factor(cholesky, NULL, NULL)); /* no analysis, no allocation */
  sxt_cholesky_info info = {.struct_size = sizeof info};
  need(sxt_cholesky_get_info(cholesky, &info));
  return info.negative;
}

/* y = A x by the triangle. */
static void multiply(void) {
  for (int i = 0; i < N; ++i) y[i] = 0;
  for (int i = 0; i < N; ++i)
    for (int k = row_ptr[i]; k < row_ptr[i + 1]; ++k) {
      y[i] += laplace[k] * x[col[k]];
      if (col[k] < i) y[col[k]] += laplace[k] * x[i];
    }
}

/* x becomes the eigenvector, of length 1, of the one eigenvalue between low and high, which is returned; *residual is
 * |A x - value x|. Inverse iteration whose shift is the Rayleigh quotient, or the middle while that lies outside. */
static double eigenpair(sxt_matrix *a, sxt_cholesky *cholesky, double low, double high, double *residual) {
  double shift = 0.5 * (low + high), value = shift;
  for (int i = 0; i < N; ++i) x[i] = 1 + sin(1.7 * i); /* not orthogonal to any eigenvector */
  for (int step = 0; step < MOST_STEPS; ++step) {
    factor(a, cholesky, shift);
    need(sxt_cholesky_solve(cholesky, N, 1, x, N, x, N, NULL, NULL));
    double size = 0, sum = 0;
    for (int i = 0; i < N; ++i) size = hypot(size, x[i]);
    for (int i = 0; i < N; ++i) x[i] /= size;
    multiply();
    value = 0;
    for (int i = 0; i < N; ++i) value += x[i] * y[i];
    for (int i = 0; i < N; ++i) sum += (y[i] - value * x[i]) * (y[i] - value * x[i]);
    *residual = sqrt(sum);
    if (*residual < 1e-12) break;
    shift = value > low && value < high ? value : 0.5 * (low + high);
  }
  return value;
}

/* The nearest of the numbers that the eigenvalues are known to be. */
static double nearest_exact(double value) {
  const double pi = acos(-1.0);
  double best = HUGE_VAL;
  for (int i = 1; i <= WIDTH; ++i)
    for (int j = 1; j <= HEIGHT; ++j) {
      const double exact = 4 - 2 * cos(pi * i / (WIDTH + 1)) - 2 * cos(pi * j / (HEIGHT + 1));
      if (fabs(exact - value) < fabs(best - value)) best = exact;
    }
  return best;
}

int main(int argc, char **argv) {
  const double bound = argc > 1 ? atof(argv[1]) : 0.11;
  assemble();
  sxt_context *context = NULL;
  sxt_matrix *a = NULL;
  sxt_analysis *analysis = NULL;
  sxt_cholesky *cholesky = NULL;
  sxt_matrix_options triangle;
  sxt_matrix_options_init(&triangle, sizeof triangle);
  triangle.symmetry = SXT_SYMMETRIC;
  triangle.triangle = SXT_LOWER;
  need(sxt_context_create(NULL, &context));
  need(sxt_matrix_from_csr(context, N, N, row_ptr, col, laplace, &triangle, &a));
  sxt_analysis_options options;
  sxt_analysis_options_init(&options, sizeof options);
  options.factorization = SXT_LDLH;         /* A - shift I is indefinite */
  options.pivot_policy = SXT_PIVOT_PERTURB; /* a shift may be an eigenvalue */
  options.expected_factors = 100;           /* a better order may pay */
  need(sxt_analysis_create(a, &options, &analysis));
  need(sxt_cholesky_create(analysis, &cholesky));

  const int64_t count = factor(a, cholesky, bound);
  printf("%lld eigenvalues below %g\n", (long long)count, bound);
  int wrong = count == 0;
  double low = 0;
  for (int64_t k = 1; k <= count; ++k) {
    double high = bound, residual = 0; /* halved until one eigenvalue lies between low and high */
    for (int64_t below = count; below > k;) {
      const double middle = 0.5 * (low + high);
      const int64_t found = factor(a, cholesky, middle);
      if (found >= k)
        high = middle, below = found;
      else
        low = middle;
    }
    const double value = eigenpair(a, cholesky, low, high, &residual);
    const double error = fabs(value - nearest_exact(value));
    printf("%2lld  %.12f  residual %.0e\n", (long long)k, value, residual);
    wrong += !(value > low && value < high && residual < 1e-10 && error < 1e-10);
    low = high;
  }
  if (wrong) fprintf(stderr, "%d eigenvalues are wrong\n", wrong);

  sxt_cholesky_destroy(cholesky);
  sxt_analysis_destroy(analysis);
  sxt_matrix_destroy(a);
  sxt_context_destroy(context);
  return wrong ? 1 : 0;
}
