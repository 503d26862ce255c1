/* SPDX-License-Identifier: BSD-3-Clause */
/* mock-scale: a third party's plugin that defines its own kind with a reference kernel and cases, and a second kernel
 * of that kind. Nothing here is wrong. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plugin_table.h"
#include "scale.h"

static sxt_status run(const void *state, void *session, const sxt_head *head, const sxt_exec *exec) {
  (void)state, (void)session, (void)exec;
  const scale_args *args = (const scale_args *)head;
  const double factor = *(const double *)args->factor.value;
  for (int64_t i = 0; i < args->n; ++i) args->y[i] = factor * args->x[i];
  return SXT_OK;
}

/* ---- a kernel that uses all a kernel may: a model, a state, sessions, scratch --------------------------------------
 */

static sxt_status applicable(const sxt_query *query, const sxt_features *features, const sxt_machine *machine,
                             sxt_message *reason) {
  (void)features, (void)machine;
  if (((const scale_query *)query)->n > 0) return SXT_OK;
  strncpy(reason->text, "n is 0: there is nothing to scale", reason->capacity - 1);
  reason->text[reason->capacity - 1] = 0;
  return SXT_NOT_APPLICABLE;
}

static sxt_status candidates(const sxt_query *query, const sxt_features *features, const sxt_machine *machine,
                             const sxt_filled *slots, sxt_candidate *out, uint64_t capacity, uint64_t *count) {
  (void)features, (void)machine, (void)slots;
  const int64_t n = ((const scale_query *)query)->n;
  *count = 2; /* in one go, or through the scratch */
  for (uint64_t i = 0; i < *count && i < capacity; ++i) {
    memset(&out[i], 0, sizeof out[i]);
    out[i].launch[0] = (int64_t)i;
    out[i].run_s = 1e-9 * (double)n;
    out[i].scratch_bytes = i ? 8 * (uint64_t)n : 0;
  }
  return SXT_OK;
}

static sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *slots,
                          const sxt_exec *exec, void **state) {
  (void)problem, (void)slots;
  int64_t *through = exec->host->alloc(exec->host, exec, SXT_SPACE_HOST, sizeof *through, 8);
  if (!through) return SXT_E_MEMORY;
  *through = candidate->launch[0];
  *state = through;
  return SXT_OK;
}

static sxt_status refresh(void *state, const sxt_problem *problem, const sxt_exec *exec) {
  (void)state, (void)problem, (void)exec;
  return SXT_OK;
}

static sxt_status open_session(const void *state, const sxt_filled *slots, const sxt_exec *exec, void **session) {
  (void)state, (void)slots, (void)exec;
  return (*session = malloc(1)) ? SXT_OK : SXT_E_MEMORY;
}

static sxt_status run_full(const void *state, void *session, const sxt_head *head, const sxt_exec *exec) {
  if (!*(const int64_t *)state) return run(state, session, head, exec);
  scale_args through = *(const scale_args *)head;
  through.y = exec->scratch;
  run(state, session, &through.h, exec);
  memcpy(((const scale_args *)head)->y, through.y, 8 * (size_t)through.n);
  return SXT_OK;
}

static const sxt_host *the_host; /* release gets no exec */
static void release(void *state) {
  sxt_exec exec = {.host = the_host};
  the_host->free(the_host, &exec, SXT_SPACE_HOST, state);
}

/* ---- the kind ------------------------------------------------------------------------------------------------------
 */

typedef struct {
  scale_query query;
  scale_args args;
  double factor, x[1000], y[1000];
  void *device_memory; /* factor, x and y behind each other while the case is moved */
} scale_case;

static sxt_status make_case(const sxt_host *host, uint64_t seed, uint64_t i, sxt_case *out) {
  (void)host;
  static const int64_t sizes[] = {0, 1, 7, 1000};
  static const char *const descriptions[] = {"n = 0", "n = 1", "n = 7", "n = 1000"};
  scale_case *c = calloc(1, sizeof *c);
  if (!c) return SXT_E_MEMORY;
  c->query.q = (sxt_query){{sizeof c->query, KIND_SCALE}, 1, 0, SXT_F64};
  c->query.n = c->args.n = sizes[i];
  c->args.h = (sxt_head){sizeof c->args, KIND_SCALE};
  c->factor = 1.0 + 1.0 / (double)(seed + i + 3);
  for (int64_t k = 0; k < sizes[i]; ++k) c->x[k] = 1.0 / (double)(k + 1);
  c->args.factor.value = &c->factor;
  c->args.x = c->x;
  c->args.y = c->y;
  out->description = descriptions[i];
  out->query = &c->query.q;
  out->args = &c->args.h;
  out->owner = c;
  return SXT_OK;
}

static sxt_status compare(const sxt_case *got, const sxt_case *want, double *error, sxt_message *message) {
  const scale_case *g = got->owner, *w = want->owner;
  *error = 0;
  for (int64_t i = 0; i < w->query.n; ++i) {
    const double distance = fabs(g->y[i] - w->y[i]) / (4.5e-16 * fabs(w->y[i]));
    if (distance <= *error) continue;
    *error = distance; /* a NaN comes here, too, and stays */
    if (!(distance <= 1) && message->capacity > 32) strcpy(message->text, "y differs from factor x");
  }
  return SXT_OK;
}

static void free_case(sxt_case *c) { free(c->owner); }

static sxt_status move_case(sxt_case *moved, const sxt_exec *exec, int32_t to_device) {
  scale_case *c = moved->owner;
  const sxt_host *host = exec->host;
  const uint64_t n = 8 * (uint64_t)c->query.n;
  if (to_device) {
    double *memory = host->alloc(host, exec, SXT_SPACE_DEVICE, 8 + 2 * n, 64);
    if (!(c->device_memory = memory)) return SXT_E_MEMORY;
    host->copy(host, exec, memory, &c->factor, 8);
    host->copy(host, exec, memory + 1, c->x, n);
    c->args.factor = (sxt_scalar){memory, 1, 0};
    c->args.x = memory + 1;
    c->args.y = memory + 1 + c->query.n;
    return SXT_OK;
  }
  host->copy(host, exec, c->y, c->args.y, n);
  host->synchronize(host, exec);
  host->free(host, exec, SXT_SPACE_DEVICE, c->device_memory);
  return SXT_OK;
}

/* ---- the plugin ----------------------------------------------------------------------------------------------------
 */

static const sxt_kernel reference = {.struct_size = sizeof reference,
                                     .kind = KIND_SCALE,
                                     .name = "com.example.scale.reference",
                                     .device = "cpu",
                                     .flags = SXT_KERNEL_REFERENCE | SXT_KERNEL_DETERMINISTIC,
                                     .run = run};
static const sxt_kernel full = {.struct_size = sizeof full,
                                .kind = KIND_SCALE,
                                .name = "com.example.scale.full",
                                .device = "cpu",
                                .flags = SXT_KERNEL_DETERMINISTIC,
                                .value_types = 1u << SXT_F64,
                                .applicable = applicable,
                                .candidates = candidates,
                                .prepare = prepare,
                                .refresh = refresh,
                                .open = open_session,
                                .run = run_full,
                                .close = free,
                                .release = release};
static const sxt_kind kind = {.struct_size = sizeof kind,
                              .id = KIND_SCALE,
                              .description = "y = factor x",
                              .reference = &reference,
                              .n_cases = 4,
                              .make_case = make_case,
                              .compare = compare,
                              .free_case = free_case,
                              .move_case = move_case};

SXT_PLUGIN_EXPORT sxt_status sxt_plugin_entry_0(const sxt_host *host, const sxt_plugin **out) {
  static const sxt_kernel *const kernels[] = {&reference, &full};
  static const sxt_kind *const kinds[] = {&kind};
  static const sxt_plugin plugin =
      MOCK_PLUGIN("mock-scale", "1.2.0", .vendor = "Example", .license = "MIT", .build_id = "abc",
                  MOCK_COUNTED(kernels, kernels), MOCK_COUNTED(kinds, kinds));
  the_host = host;
  *out = &plugin;
  return SXT_OK;
}
