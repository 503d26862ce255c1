/* SPDX-License-Identifier: BSD-3-Clause */
/* The streams of device "mock", as its kernels see them. Work is a function and a copy of its arguments; it runs when
 * it is enqueued, or is captured while the stream is being captured. */
#ifndef MOCK_STREAM_H
#define MOCK_STREAM_H
#include "sextant/plugin/plugin.h"

typedef struct mock_stream mock_stream;
struct mock_stream {
  sxt_status (*enqueue)(mock_stream *, void (*work)(const void *arguments), const void *arguments, uint64_t bytes);
};

#endif
