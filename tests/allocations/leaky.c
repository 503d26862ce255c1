/* SPDX-License-Identifier: BSD-3-Clause */
/* Allocates in every step, which the counter has to detect. Its solves are refused, which costs no allocation. */
#include <stdlib.h>

#include "sextant/sextant.h"

int main(int argc, char **argv) {
  const int steps = argc > 1 ? atoi(argv[1]) : 0;
  void *volatile piece = NULL;
  for (int i = 0; i < steps; ++i) {
    free(piece), piece = malloc(16);
    sxt_pcg_solve_array(NULL, 0, NULL, NULL, NULL, NULL);
  }
  free(piece);
  return 0;
}
