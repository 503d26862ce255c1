/* SPDX-License-Identifier: BSD-3-Clause */
/* A set of two systems, of which one is Toeplitz: equal numbers along each diagonal. A shortcut solves that one by a recursion, and
 * leaves no factor of it. */
#include <sextant/sextant.h>
#include <stdio.h>

enum { BATCH = 2, N = 3 };

int main(void) {
  double a[BATCH][N * N] = {{4, 1, 0, 0, 4, 1, 0, 0, 4}, {4, 1, 0, 0, 5, 1, 0, 0, 6}}; /* column-major, lower triangles */
  double b[BATCH][N] = {{5, 6, 5}, {5, 7, 7}};
  int32_t info[BATCH];
  uint8_t went_short[BATCH];

  sxt_context *context = NULL;
  sxt_hermitian *hermitian = NULL;
  sxt_hermitian_options options;
  sxt_hermitian_options_init(&options, sizeof options);
  options.batch = BATCH, options.n = N, options.space = SXT_SPACE_HOST;
  options.shortcuts = SXT_SHORTCUT_TOEPLITZ | SXT_SHORTCUT_ALWAYS;

  sxt_hermitian_set set;
  sxt_hermitian_set_init(&set, sizeof set);
  set.a = a, set.lda = N, set.stride_a = N * N;
  set.b = b, set.ldb = N, set.stride_b = N;
  set.info = info;
  set.shortcut = went_short; /* one byte for each system */

  sxt_status status = sxt_context_create(NULL, &context);
  if (!status) status = sxt_hermitian_create(context, &options, &hermitian);
  if (!status) status = sxt_hermitian_factor_solve(hermitian, &set);
  if (status) fprintf(stderr, "%s\n", sxt_last_error(NULL));
  for (int i = 0; i < BATCH && !status; ++i)
    printf("info %d, shortcut %d: %g %g %g\n", (int)info[i], went_short[i], b[i][0], b[i][1], b[i][2]);

  sxt_hermitian_destroy(hermitian);
  sxt_context_destroy(context);
  return status != SXT_OK;
}
