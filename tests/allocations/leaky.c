/* SPDX-License-Identifier: BSD-3-Clause */
/* Allocates in every step: what the counter has to notice. */
#include <stdlib.h>

int main(int argc, char **argv) {
  int steps = argc > 1 ? atoi(argv[1]) : 0;
  void *volatile piece = NULL;
  for (int i = 0; i < steps + 10; ++i) free(piece), piece = malloc(16);
  free(piece);
  return 0;
}
