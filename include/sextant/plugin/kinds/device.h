/* SPDX-License-Identifier: BSD-3-Clause */
/* Kind "sxt.device/1": a device plugin lends memory, streams, events and capture of one kind of device. It is used
 * through its ops only; prepare and run stay unused (run returns SXT_E_NOT_SUPPORTED). Only driver-level handles of the
 * device's primary context cross this table, so plugins with different runtimes coexist.
 * Sentences about failures go to set_error with no exec. A device that has failed for good reports it at every later
 * call; objects made on it can still be freed, destroyed and closed. */
#ifndef SEXTANT_KINDS_DEVICE_H
#define SEXTANT_KINDS_DEVICE_H
#include "sextant/plugin/plugin.h"

#define SXT_KIND_DEVICE "sxt.device/1"

typedef struct {
  uint64_t struct_size;
  /* REQUIRED */
  sxt_status (*count)(int32_t *count, sxt_message *why_none); /* 0 with the reason when there is no such device */
  /* Fills what it knows; out->struct_size says how much there is; threads <= 0: all the process may use. */
  sxt_status (*describe)(int32_t ordinal, int32_t threads, sxt_machine *out);
  sxt_status (*open)(const sxt_host *, int32_t ordinal, void **device);
  void (*close)(void *device);
  /* In the order of the stream. Without one: usable anywhere once alloc returns; free's memory is no longer in use. */
  sxt_status (*alloc)(void *device, void *stream, sxt_space, uint64_t bytes, uint64_t alignment, void **memory);
  void (*free)(void *device, void *stream, sxt_space, void *memory);
  /* Between any two spaces, in the order of the stream; without one it is done when copy returns. */
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
  sxt_status (*event_elapsed)(void *device, void *from, void *to, double *seconds); /* waits for `to` */
  /* OPTIONAL, both or none: make the device current for the calling thread, and restore what was current before. They
   * nest. Core encloses every call into a kernel, so that kernels may rely on it; every op here does so itself. */
  sxt_status (*enter)(void *device);
  void (*leave)(void *device);
  /* OPTIONAL: may work of this device be enqueued on a stream that the caller made? NULL: yes */
  sxt_status (*stream_check)(void *device, void *stream);
  /* OPTIONAL: where memory lies and on which device (its ordinal; -1: host memory that no device knows) */
  sxt_status (*locate)(void *device, const void *memory, sxt_space *, int32_t *ordinal);
  /* OPTIONAL: between two opened devices of this plugin, in the order of a stream of the first */
  sxt_status (*copy_peer)(void *device, void *stream, void *to, void *from_device, const void *from, uint64_t bytes);
  /* OPTIONAL: a stream whose work begins after what the device's default stream (CUDA: the legacy one) was given
   * before, and ends before what that is given later begins. Core works there for a caller without a stream; NULL:
   * stream_create */
  sxt_status (*stream_create_in_order)(void *device, void **stream);
  /* OPTIONAL: how many bytes of freed memory the device keeps at most for later requests */
  sxt_status (*keep_at_most)(void *device, uint64_t bytes);
} sxt_device_ops;

/* Service "sxt.devices/1" of sxt_host.get_service: what an engine needs beside the host's table. [any-thread] */
#define SXT_SERVICE_DEVICES "sxt.devices/1"
typedef struct { /* What an engine needs of its device */
  uint64_t struct_size;
  /* The operations of exec's device; members that it does not offer are NULL. Valid as long as exec's device. */
  const sxt_device_ops *(*ops)(const sxt_host *, const sxt_exec *);
  /* What models know of it. */
  const sxt_machine *(*machine)(const sxt_host *, const sxt_exec *);
} sxt_devices_service;

SXT_STATIC_ASSERT(SXT_END_OF(sxt_device_ops, keep_at_most) == sizeof(sxt_device_ops), "no tail padding");
#endif
