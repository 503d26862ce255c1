/* SPDX-License-Identifier: BSD-3-Clause */
/* A program outside the tree: solves a small system and makes sure that the plugins are those beside the library that
 * it was given, not some others. usage: consumer PREFIX */
#include <stdio.h>
#include <string.h>

#include "sextant/sextant.h"

enum { N = 50, NNZ = 3 * N - 2 };

static int fail(const char *what) {
  fprintf(stderr, "%s: %s\n", what, sxt_last_error(NULL));
  return 1;
}

/* The second difference on N points, one-based coordinates. */
static void assemble(int32_t *row, int32_t *col, double *value) {
  int32_t k = 0;
  for (int32_t i = 1; i <= N; i++) {
    for (int32_t j = i - 1; j <= i + 1; j++) {
      if (j < 1 || j > N) continue;
      row[k] = i;
      col[k] = j;
      value[k++] = i == j ? 2.0 : -1.0;
    }
  }
}

/* Every plugin file lies under the prefix, and there is one. */
static int check_plugins(const char *prefix) {
  int64_t count = sxt_plugin_count();
  for (int64_t i = 0; i < count; i++) {
    sxt_plugin_info info = {.struct_size = sizeof info};
    if (sxt_plugin_get(i, &info) != SXT_OK) return fail("sxt_plugin_get");
    if (strncmp(info.path, prefix, strlen(prefix)) != 0) {
      fprintf(stderr, "plugin %s is not under %s\n", info.path, prefix);
      return 1;
    }
  }
  printf("%d plugins under %s\n", (int)count, prefix);
  return count == 0;
}

static int solve(sxt_context *context) {
  static int32_t row[NNZ], col[NNZ];
  static double value[NNZ], b[N], x[N];
  assemble(row, col, value);
  b[0] = b[N - 1] = 1.0; /* so that x is 1 everywhere */

  sxt_matrix_options options;
  sxt_matrix_options_init(&options, sizeof options);
  options.index_base = 1;
  sxt_matrix *a = NULL;
  if (sxt_matrix_from_coo(context, N, N, NNZ, row, col, value, &options, &a) != SXT_OK) return fail("from_coo");
  sxt_pcg *pcg = NULL;
  if (sxt_pcg_create(a, NULL, &pcg) != SXT_OK) return fail("pcg_create");
  sxt_pcg_report report = {.struct_size = sizeof report};
  if (sxt_pcg_solve_array(pcg, N, b, x, NULL, &report) != SXT_OK) return fail("pcg_solve");

  double error = 0;
  for (int i = 0; i < N; i++) {
    double difference = x[i] < 1.0 ? 1.0 - x[i] : x[i] - 1.0;
    if (!(difference <= error)) error = difference; /* also true for a NaN */
  }
  printf("%s after %d iterations, error %.1e\n", sxt_reason_name(report.reason), (int)report.iterations, error);
  sxt_matrix_destroy(a);
  sxt_pcg_destroy(pcg);
  return !(error <= 1e-6);
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  int32_t major = -1, minor = -1;
  sxt_version(&major, &minor, NULL);
  if (major != SXT_VERSION_MAJOR || minor != SXT_VERSION_MINOR) return 3;
  sxt_context *context = NULL;
  if (sxt_context_create(NULL, &context) != SXT_OK) return fail("context_create");
  int wrong = solve(context) || check_plugins(argv[1]);
  sxt_context_destroy(context);
  return wrong;
}
