/* SPDX-License-Identifier: BSD-3-Clause */
/* A program without any C++ of its own that opens the library while it runs, as interpreters do: the C++ runtime then
   comes by dlopen, too, and its thread-local data is made when it is first used. */
#include <dlfcn.h>
#include <stdio.h>

#include "failing_malloc.h"

/* Held here, so that the linker keeps what the module looks for. */
void (*const kept)(void) = failing_malloc_pause;

/* MODULE, then the arguments of life.cpp */
int main(int argc, char **argv) {
  if (argc < 2) return 2;
  void *const module = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  int (*life)(int, char **) = NULL;
  if (module) *(void **)&life = dlsym(module, "exhausted_life");
  if (!life) return fprintf(stderr, "%s\n", dlerror()), 2;
  return life(argc - 1, argv + 1);
}
