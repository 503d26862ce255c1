/* SPDX-License-Identifier: BSD-3-Clause */
/* Kind "sxt.device/1": a device plugin lends memory, streams, events and capture of one kind of device. It is used through
 * its ops only; prepare and run stay unused (run returns SXT_E_NOT_SUPPORTED). Only driver-level handles of the
 * device's primary context cross this table, so plugins with different runtimes coexist. */
#ifndef SEXTANT_KINDS_DEVICE_H
#define SEXTANT_KINDS_DEVICE_H
#include "sextant/plugin.h"

#define SXT_KIND_DEVICE "sxt.device/1"

typedef struct {
  uint64_t struct_size;
  /* REQUIRED */
  sxt_status (*count)(int32_t *count, sxt_message *why_none); /* 0 with the reason when there is no such device */
  /* Fills what it knows; out->struct_size says how much there is; threads <= 0: all the process may use. */
  sxt_status (*describe)(int32_t ordinal, int32_t threads, sxt_machine *out);
  sxt_status (*open)(const sxt_host *, int32_t ordinal, void **device);
  void (*close)(void *device);
  sxt_status (*alloc)(void *device, void *stream, sxt_space, uint64_t bytes, uint64_t alignment, void **memory);
  void (*free)(void *device, void *stream, sxt_space, void *memory);
  sxt_status (*copy)(void *device, void *stream, void *to, const void *from, uint64_t bytes);
  /* OPTIONAL, NULL on devices where work is done when the call returns */
  sxt_status (*stream_create)(void *device, void **stream);
  void (*stream_destroy)(void *device, void *stream);
  sxt_status (*stream_synchronize)(void *device, void *stream);
  /* OPTIONAL: where memory lies; NULL: everything is SXT_SPACE_HOST */
  sxt_status (*classify)(void *device, const void *memory, sxt_space *);
  /* OPTIONAL, all or none: work captured once and replayed */
  sxt_status (*capture_begin)(void *device, void *stream);
  sxt_status (*capture_end)(void *device, void *stream, void **graph);
  sxt_status (*graph_launch)(void *device, void *stream, void *graph);
  void (*graph_destroy)(void *device, void *graph);
  /* OPTIONAL, all or none: points in a stream */
  sxt_status (*event_create)(void *device, void **event);
  void (*event_destroy)(void *device, void *event);
  sxt_status (*event_record)(void *device, void *event, void *stream);
  sxt_status (*event_wait)(void *device, void *event, void *stream);
  sxt_status (*event_elapsed)(void *device, void *from, void *to, double *seconds);
} sxt_device_ops;

SXT_STATIC_ASSERT(SXT_END_OF(sxt_device_ops, event_elapsed) == sizeof(sxt_device_ops), "no tail padding");
#endif
