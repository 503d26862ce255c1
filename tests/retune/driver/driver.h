/* SPDX-License-Identifier: BSD-3-Clause */
/* What the fake driver of the retuner's tests recorded. */
#ifndef SEXTANT_RETUNE_FAKE_DRIVER_H
#define SEXTANT_RETUNE_FAKE_DRIVER_H
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  char name[256];
  unsigned grid[3], block[3], shared;
  void *stream;
  int per_thread, extended; /* came by cuLaunchKernel(Ex)_ptsz; by cuLaunchKernelEx */
} FakeLaunch;

int64_t fake_launch_count(void);
FakeLaunch fake_launch(int64_t i);
void fake_forget_launches(void);
void fake_capture(int state); /* what cuStreamIsCapturing says of every stream */

#ifdef __cplusplus
}
#endif
#endif
