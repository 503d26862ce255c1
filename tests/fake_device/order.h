/* SPDX-License-Identifier: BSD-3-Clause */
/* The order of work on the fake runtime's streams. fake_count("races") is the number of times that two pieces of work
 * touched one allocation of device memory without one. */
#ifndef SEXTANT_FAKE_ORDER_H
#define SEXTANT_FAKE_ORDER_H
#include "fake.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A piece of work enqueued now uses this many bytes from there on; UINT64_MAX: the whole allocation. */
void fake_order_use(const void *stream, const void *memory, uint64_t bytes, int32_t writes);
void fake_order_forget(const void *start); /* an allocation that has ended */
void fake_order_record(const void *event, const void *stream);
void fake_order_wait(const void *stream, const void *event);
void fake_order_await_stream(const void *stream); /* by the host */
void fake_order_await_event(const void *event);
void fake_order_end(const void *stream);       /* one that is destroyed; its work that was not waited for stays */
const void *fake_start_of(const void *memory); /* of its allocation on a device; NULL: none. In driver.cpp */

#ifdef __cplusplus
}
#endif
#endif
