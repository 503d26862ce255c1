/* SPDX-License-Identifier: BSD-3-Clause */
/* Heat spreading in a square plate, implicit in time: one matrix and one set-up, values that change when the time step
 * does, each solve begun from the last temperature. Nothing is allocated after the first step.
 *
 *   heat [STEPS [DEVICE]]
 *
 * du/dt = div grad u, u = 0 on the edge:  (I + dt L) u_new = u_old, L the five-point Laplacian. */
#include <stdio.h>
#include <stdlib.h>

#include "sextant/sextant.h"

enum { SIDE = 60, N = SIDE * SIDE, MOST = 5 * N, LATER = 5 };

static int32_t row_ptr[N + 1], col[MOST];
static double laplacian[MOST], values[MOST], u[N], u_old[N];

static void need(sxt_status status) {
  if (status == SXT_OK) return;
  fprintf(stderr, "%s: %s\n", sxt_status_name(status), sxt_last_error(NULL));
  exit(1);
}

/* Pattern and values of L, both triangles. */
static void assemble(void) {
  const double per_h2 = (SIDE + 1.0) * (SIDE + 1.0);
  int32_t k = 0;
  for (int32_t row = 0; row < N; ++row) {
    const int32_t i = row % SIDE, j = row / SIDE;
    row_ptr[row] = k;
    if (j > 0) col[k] = row - SIDE, laplacian[k++] = -per_h2;
    if (i > 0) col[k] = row - 1, laplacian[k++] = -per_h2;
    col[k] = row, laplacian[k++] = 4 * per_h2;
    if (i + 1 < SIDE) col[k] = row + 1, laplacian[k++] = -per_h2;
    if (j + 1 < SIDE) col[k] = row + SIDE, laplacian[k++] = -per_h2;
  }
  row_ptr[N] = k;
}

/* Values of I + dt L. */
static void implicit_step(double dt) {
  for (int32_t row = 0; row < N; ++row)
    for (int32_t k = row_ptr[row]; k < row_ptr[row + 1]; ++k) values[k] = dt * laplacian[k] + (col[k] == row);
}

int main(int argc, char **argv) {
  const int steps = argc > 1 ? atoi(argv[1]) : 20;
  sxt_context_options where;
  sxt_context_options_init(&where, sizeof where);
  if (argc > 2) where.device = argv[2];
  sxt_context *context = NULL;
  sxt_matrix *a = NULL;
  sxt_pcg *pcg = NULL;
  need(sxt_context_create(&where, &context));

  double dt = 1e-4;
  assemble();
  implicit_step(dt);
  need(sxt_matrix_from_csr(context, N, N, row_ptr, col, values, NULL, &a));
  sxt_pcg_options options;
  sxt_pcg_options_init(&options, sizeof options);
  options.rtol = 1e-10;
  options.expected_solves = 100; /* many: a set-up that costs more may pay */
  need(sxt_pcg_create(a, &options, &pcg));

  u[N / 2 + SIDE / 2] = 1; /* a hot spot */
  sxt_solve_options warm;
  sxt_solve_options_init(&warm, sizeof warm);
  warm.use_initial_guess = 1;
  int64_t iterations = 0;
  double worst = 0;
  for (int step = 1; step <= steps; ++step) {
    if (step % LATER == 0) { /* things move slower now */
      dt *= 1.2;
      implicit_step(dt);
      need(sxt_matrix_update_values(a, values, row_ptr[N]));
    }
    for (int i = 0; i < N; ++i) u_old[i] = u[i];
    sxt_pcg_report report = {.struct_size = sizeof report};
    need(sxt_pcg_solve_array(pcg, N, u_old, u, &warm, &report));
    iterations += report.iterations;
    if (report.true_relative_residual > worst) worst = report.true_relative_residual;
  }

  double heat = 0;
  for (int i = 0; i < N; ++i) heat += u[i];
  printf("%d steps, %lld iterations, worst residual %.1e, heat %.6f\n", steps, (long long)iterations, worst, heat);
  sxt_pcg_destroy(pcg);
  sxt_matrix_destroy(a);
  sxt_context_destroy(context);
  return 0;
}
