/* SPDX-License-Identifier: BSD-3-Clause */
/* Common functions of the fake vendor libraries, exported by the fake libcuda.so.1: calls are counted and can be made
 * to fail, memory and objects are stored and counted, and no work is done. Tests use the same functions to inspect the
 * state. Written from the vendor's published interface, with declarations of our own: no CUDA header is needed. */
#ifndef SEXTANT_FAKE_DEVICE_H
#define SEXTANT_FAKE_DEVICE_H
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The few error numbers of the runtime that the fakes give themselves; drivers use the same ones. */
enum { FAKE_OK = 0, FAKE_INVALID_VALUE = 1, FAKE_NO_MEMORY = 2, FAKE_NO_DEVICE = 100, FAKE_INVALID_DEVICE = 101, FAKE_NOT_READY = 600, FAKE_CAPTURING = 900 };
/* Where memory lies, as the runtime numbers it. */
enum { FAKE_UNREGISTERED = 0, FAKE_HOST = 1, FAKE_DEVICE = 2, FAKE_MANAGED = 3 };

/* ---- for tests ---- */
/* The n-th vendor call from now (1: the next) returns this error, once; n <= 0: none. SEXTANT_FAKE_FAIL="n:error" sets it at
 * load. An error from 700 to 719 lasts: every later call that does not free something returns it, too. */
void fake_fail(int64_t n, int32_t error);
/* Remaining device memory, in bytes; negative (as at first): no limit. */
void fake_limit_memory(int64_t bytes);
/* Whether devices reach each other's memory (as at first: 1). */
void fake_join_devices(int32_t joined);
/* From now on streams that are asked say that they are at work (as at first: 0). Nothing else changes. */
void fake_busy(int32_t busy);
int64_t fake_failures(void);            /* calls that were made to fail since fake_fail */
/* "calls", "launches", "opened pools", "graph launches", "races" (order.h), "unsafe calls" of threads in the global
 * mode, "requests" for memory, or living objects: "contexts", "current", "streams", ... */
int64_t fake_count(const char *what);
const char *fake_failed_call(void);     /* the last call that was made to fail */

/* ---- for the fake libraries ---- */
int32_t fake_call(const char *name);    /* counts; the error to return, 0 for none */
int32_t fake_release(const char *name); /* the same for calls that free something: never the lasting error */
int32_t fake_devices(void);             /* SEXTANT_FAKE_DEVICES, default 1 */
int32_t fake_current(void);             /* this thread's device, -1: none */
int32_t fake_joined(void);
int32_t fake_is_busy(void);
int32_t fake_make_current(int32_t device); /* in the place of the one that is; FAKE_INVALID_DEVICE when there is none */
void fake_add(const char *what, int64_t amount);
void *fake_allocate(int32_t type, uint64_t bytes); /* zeros */
int32_t fake_free(void *memory);        /* FAKE_INVALID_VALUE when it is not known */
int32_t fake_locate(const void *memory, int32_t *device);
void fake_note_pool(const void *memory, void *pool); /* that an allocation comes from */
int32_t fake_capture_mode(void);        /* this thread's, as the runtime numbers them: 0 global, 1 thread-local, 2 relaxed */

#ifdef __cplusplus
}
#endif
#endif
