/* SPDX-License-Identifier: BSD-3-Clause */
/* mock-device: a device with streams that can be captured. Its memory is the host's; a captured graph is a list of the
 * work that was enqueued. With -DABSENT=1 it is the plugin of a device, "absent", that is not present. With -DBROKEN=1
 * it is the newest version of the plugin of "cuda", whose device is present and does not open. */
#include <stdlib.h>
#include <string.h>

#include "mock_stream.h"
#include "plugin_table.h"
#include "sextant/plugin/kinds/device.h"

#if ABSENT
#define DEVICE "absent"
#elif BROKEN
#define DEVICE "cuda"
#else
#define DEVICE "mock"
#endif
#if BROKEN
#define PLUGIN "device-cuda"
#define VERSION "99.0"
#else
#define PLUGIN "mock-device-" DEVICE
#define VERSION "1.0"
#endif

typedef struct piece {
  struct piece *next;
  void (*work)(const void *);
  _Alignas(16) char arguments[];
} piece;

typedef struct {
  piece *first, **end;
} graph;

typedef struct {
  mock_stream stream; /* first: what kernels see */
  graph *recording;   /* NULL: work runs at once */
} device_stream;

typedef struct {
  device_stream null_stream;
} device;

static sxt_status enqueue(mock_stream *stream, void (*work)(const void *), const void *arguments, uint64_t bytes) {
  graph *recording = ((device_stream *)stream)->recording;
  if (!recording) return work(arguments), SXT_OK;
  piece *added = malloc(sizeof *added + bytes);
  if (!added) return SXT_E_MEMORY;
  added->next = NULL;
  added->work = work;
  memcpy(added->arguments, arguments, bytes);
  *recording->end = added;
  recording->end = &added->next;
  return SXT_OK;
}

static mock_stream *stream_of(void *on, void *stream) { return stream ? stream : &((device *)on)->null_stream.stream; }

static sxt_status count(int32_t *count, sxt_message *why_none) {
  *count = !ABSENT;
  if (ABSENT && why_none) strncpy(why_none->text, "its driver is not installed", why_none->capacity - 1);
  return SXT_OK;
}

static sxt_status describe(int32_t ordinal, int32_t threads, sxt_machine *out) {
  (void)ordinal, (void)threads;
  out->device = DEVICE;
  out->name = "Mock Device";
  out->level = 1;
  out->units = 4;
  out->memory_bytes = 1u << 30;
  return SXT_OK;
}

static sxt_status open_device(const sxt_host *host, int32_t ordinal, void **out) {
  (void)ordinal;
  if (BROKEN) return host->set_error(host, NULL, "the mock is out of order"), SXT_E_DEVICE;
  device *made = calloc(1, sizeof *made);
  if (!made) return SXT_E_MEMORY;
  made->null_stream.stream.enqueue = enqueue;
  *out = made;
  return SXT_OK;
}

static sxt_status alloc_memory(void *on, void *stream, sxt_space space, uint64_t bytes, uint64_t alignment,
                               void **memory) {
  (void)on, (void)stream, (void)space;
  *memory = aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  return *memory ? SXT_OK : SXT_E_MEMORY;
}

static void free_memory(void *on, void *stream, sxt_space space, void *memory) {
  (void)on, (void)stream, (void)space;
  free(memory);
}

typedef struct {
  void *to;
  const void *from;
  uint64_t bytes;
} transfer;

static void transfer_now(const void *arguments) {
  const transfer *t = arguments;
  memmove(t->to, t->from, t->bytes);
}

static sxt_status copy(void *on, void *stream, void *to, const void *from, uint64_t bytes) {
  const transfer t = {to, from, bytes};
  return enqueue(stream_of(on, stream), transfer_now, &t, sizeof t);
}

static sxt_status stream_create(void *on, void **stream) {
  (void)on;
  device_stream *made = calloc(1, sizeof *made);
  if (!made) return SXT_E_MEMORY;
  made->stream.enqueue = enqueue;
  *stream = made;
  return SXT_OK;
}

static void stream_destroy(void *on, void *stream) {
  (void)on;
  free(stream);
}

/* Waiting inside a capture is an error, as it is on real devices. */
static sxt_status stream_synchronize(void *on, void *stream) {
  return ((device_stream *)stream_of(on, stream))->recording ? SXT_E_STATE : SXT_OK;
}

static sxt_status capture_begin(void *on, void *stream) {
  device_stream *captured = (device_stream *)stream_of(on, stream);
  if (captured->recording) return SXT_E_STATE;
  if (!(captured->recording = calloc(1, sizeof(graph)))) return SXT_E_MEMORY;
  captured->recording->end = &captured->recording->first;
  return SXT_OK;
}

static sxt_status capture_end(void *on, void *stream, void **out) {
  device_stream *captured = (device_stream *)stream_of(on, stream);
  if (!captured->recording) return SXT_E_STATE;
  *out = captured->recording;
  captured->recording = NULL;
  return SXT_OK;
}

static sxt_status graph_launch(void *on, void *stream, void *launched) {
  (void)on, (void)stream;
  for (const piece *each = ((graph *)launched)->first; each; each = each->next) each->work(each->arguments);
  return SXT_OK;
}

static void graph_destroy(void *on, void *destroyed) {
  (void)on;
  for (piece *each = ((graph *)destroyed)->first, *next; each; each = next) next = each->next, free(each);
  free(destroyed);
}

static sxt_status run(const void *state, void *session, const sxt_head *args, const sxt_exec *exec) {
  (void)state, (void)session, (void)args, (void)exec;
  return SXT_E_NOT_SUPPORTED;
}

static const sxt_device_ops ops = {.struct_size = sizeof ops,
                                   .count = count,
                                   .describe = describe,
                                   .open = open_device,
                                   .close = free,
                                   .alloc = alloc_memory,
                                   .free = free_memory,
                                   .copy = copy,
                                   .stream_create = stream_create,
                                   .stream_destroy = stream_destroy,
                                   .stream_synchronize = stream_synchronize,
                                   .capture_begin = capture_begin,
                                   .capture_end = capture_end,
                                   .graph_launch = graph_launch,
                                   .graph_destroy = graph_destroy};
static const sxt_kernel kernel = {.struct_size = sizeof kernel,
                                  .kind = SXT_KIND_DEVICE,
                                  .name = "device." DEVICE,
                                  .device = DEVICE,
                                  .ops = &ops,
                                  .run = run};

MOCK_ENTRY(PLUGIN, VERSION, &kernel)
