/* SPDX-License-Identifier: BSD-3-Clause */
/* mock-composed: a kernel of com.example.scale/1 made of two others of the same kind, through a slot. The first scales
 * into the scratch, the second copies (factor 1) into y. Each part gets the scratch behind the kernel's own. There are
 * two more kernels: one without its slot_query, and one with a slot that no kernel fills. */
#include <stdlib.h>
#include <string.h>

#include "plugin_table.h"
#include "scale.h"

static sxt_status applicable(const sxt_query *query, const sxt_features *features, const sxt_machine *machine,
                             sxt_message *reason) {
  (void)features, (void)machine;
  if (((const scale_query *)query)->n > 1) return SXT_OK;
  strncpy(reason->text, "n is below 2", reason->capacity - 1);
  return SXT_NOT_APPLICABLE;
}

static uint64_t own_bytes(int64_t n) { return (8 * (uint64_t)n + 255) / 256 * 256; }

static sxt_status candidates(const sxt_query *query, const sxt_features *features, const sxt_machine *machine,
                             const sxt_filled *slots, sxt_candidate *out, uint64_t capacity, uint64_t *count) {
  (void)features, (void)machine, (void)capacity;
  if (slots[0].instances != 2 || slots[0].kinds_per_instance != 1 || slots[0].alternative != 1) return SXT_E_INTERNAL;
  if (slots[1].alternative != -1 || slots[1].instances != 0) return SXT_E_INTERNAL;
  *count = 1;
  memset(out, 0, sizeof *out);
  out->run_s = slots[0].run_s;
  out->scratch_bytes = own_bytes(((const scale_query *)query)->n) + slots[0].scratch_bytes;
  return SXT_OK;
}

static sxt_status slot_query(const sxt_query *query, uint64_t slot, uint64_t instance, const char *kind, void *out,
                             uint64_t capacity) {
  if (slot == 1) return SXT_NOT_APPLICABLE; /* may stay empty */
  if (instance > 1 || capacity < sizeof(scale_query)) return SXT_NOT_APPLICABLE;
  scale_query part = *(const scale_query *)query;
  part.q.h.kind = kind;
  memcpy(out, &part, sizeof part);
  return SXT_OK;
}

typedef struct {
  const sxt_bound *parts[2];
} parts_of_session;

static sxt_status open_session(const void *state, const sxt_filled *slots, const sxt_exec *exec, void **session) {
  (void)state, (void)exec;
  parts_of_session *s = malloc(sizeof *s);
  if (!s) return SXT_E_MEMORY;
  s->parts[0] = slots[0].parts[0];
  s->parts[1] = slots[0].parts[1];
  *session = s;
  return SXT_OK;
}

static sxt_status run(const void *state, void *session, const sxt_head *head, const sxt_exec *exec) {
  (void)state;
  const parts_of_session *s = session;
  const double one = 1;
  scale_args first = *(const scale_args *)head, second = first;
  first.y = exec->scratch;
  second.x = exec->scratch;
  second.factor = (sxt_scalar){&one, 0, 0};
  sxt_exec rest = *exec;
  rest.scratch = (char *)exec->scratch + own_bytes(first.n);
  rest.scratch_bytes = exec->scratch_bytes - own_bytes(first.n);
  const sxt_status status = s->parts[0]->run(s->parts[0]->state, s->parts[0]->session, &first.h, &rest);
  if (status != SXT_OK) return status;
  return s->parts[1]->run(s->parts[1]->state, s->parts[1]->session, &second.h, &rest);
}

static const char *const scalers[] = {"com.example.unheard-of/1", KIND_SCALE, NULL};
static const char *const unheard_of[] = {"com.example.unheard-of/1", KIND_SCALE "+com.example.unheard-of/1", NULL};
static const sxt_slot slots[] = {{"S", scalers, SXT_KERNEL_DETERMINISTIC, 1, 4, 0}, {"extra", scalers, 0, 0, 1, 0}};
static const sxt_slot unfillable[] = {{"S", unheard_of, 0, 1, 1, 0}};

#define COMPOSED(variable, kernel_name, its_slots, count, query_of_slot) \
  static const sxt_kernel variable = {.struct_size = sizeof variable,    \
                                      .kind = KIND_SCALE,                \
                                      .name = kernel_name,               \
                                      .device = "cpu",                   \
                                      .slots = its_slots,                \
                                      .n_slots = count,                  \
                                      .applicable = applicable,          \
                                      .candidates = candidates,          \
                                      .slot_query = query_of_slot,       \
                                      .open = open_session,              \
                                      .run = run,                        \
                                      .close = free}
COMPOSED(composed, "com.example.composed", slots, 2, slot_query);
COMPOSED(mute, "com.example.composed.mute", slots, 2, NULL);
COMPOSED(incomplete, "com.example.composed.incomplete", unfillable, 1, slot_query);

MOCK_ENTRY("mock-composed", "1.0", &composed, &mute, &incomplete)
