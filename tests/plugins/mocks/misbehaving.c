/* SPDX-License-Identifier: BSD-3-Clause */
/* Plugins whose one kernel of kind com.example.scale/1 loads well and then breaks its contract: one module for each
 * name below, chosen by -DDEFECT=<name>. */
#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plugin_table.h"
#include "scale.h"

enum {
  wrong_answer,
  nan_answer,
  crash_in_run,
  hang_in_run,
  error_in_run,
  scratch_overflow,
  scratch_underflow,
  allocates_in_run,
  leaks_state,
  unstable_candidates,
  nan_candidate,
  infinite_setup,
  no_candidate,
  silent_decline,
  long_winded_decline,
  thread_dependent_bits,
  wrong_after_refresh,
  wrong_beside_another
};

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
#define IS(defect) (DEFECT == defect)

static const sxt_host *the_host;
static atomic_int open_sessions;

typedef struct {
  int refreshed;
  void *leak;
} kernel_state;

static sxt_status applicable(const sxt_query *query, const sxt_features *features, const sxt_machine *machine,
                             sxt_message *reason) {
  (void)query, (void)features, (void)machine;
  if (IS(silent_decline)) return SXT_NOT_APPLICABLE;
  if (IS(long_winded_decline)) memset(reason->text, 'x', reason->capacity + 1);
  return IS(long_winded_decline) ? SXT_NOT_APPLICABLE : SXT_OK;
}

static sxt_status candidates(const sxt_query *query, const sxt_features *features, const sxt_machine *machine,
                             const sxt_filled *slots, sxt_candidate *out, uint64_t capacity, uint64_t *count) {
  (void)query, (void)features, (void)machine, (void)slots, (void)capacity;
  static int calls;
  *count = !IS(no_candidate);
  memset(out, 0, sizeof *out);
  out->run_s = IS(nan_candidate) ? NAN : 1e-6 + (IS(unstable_candidates) ? 1e-9 * ++calls : 0);
  out->setup_s = IS(infinite_setup) ? INFINITY : 0;
  out->scratch_bytes = 100;
  return SXT_OK;
}

static sxt_status prepare(const sxt_problem *problem, const sxt_candidate *candidate, const sxt_filled *slots,
                          const sxt_exec *exec, void **state) {
  (void)problem, (void)candidate, (void)slots;
  kernel_state *made = calloc(1, sizeof *made);
  if (!made) return SXT_E_MEMORY;
  if (IS(leaks_state)) made->leak = exec->host->alloc(exec->host, exec, SXT_SPACE_HOST, 64, 64);
  *state = made;
  return SXT_OK;
}

static sxt_status refresh(void *state, const sxt_problem *problem, const sxt_exec *exec) {
  (void)problem, (void)exec;
  ((kernel_state *)state)->refreshed = 1;
  return SXT_OK;
}

static sxt_status open_session(const void *state, const sxt_filled *slots, const sxt_exec *exec, void **session) {
  (void)state, (void)slots, (void)exec;
  atomic_fetch_add(&open_sessions, 1);
  *session = &open_sessions;
  return SXT_OK;
}

static void close_session(void *session) {
  (void)session;
  atomic_fetch_sub(&open_sessions, 1);
}

/* The factor by which y is wrong: 1 for those that are wrong in something else. */
static double error_of(const kernel_state *state, const sxt_exec *exec) {
  if (IS(wrong_answer)) return 1.001;
  if (IS(nan_answer)) return NAN;
  if (IS(thread_dependent_bits)) return exec->threads > 1 ? 1 + 2.3e-16 : 1; /* within the bound of compare */
  if (IS(wrong_after_refresh)) return state->refreshed ? 2 : 1;
  if (IS(wrong_beside_another)) return atomic_load(&open_sessions) > 2 ? 2 : 1;
  return 1;
}

static sxt_status run(const void *state, void *session, const sxt_head *head, const sxt_exec *exec) {
  (void)session;
  const scale_args *args = (const scale_args *)head;
  const double error = error_of(state, exec);
  for (int64_t i = 0; i < args->n; ++i) args->y[i] = *(const double *)args->factor.value * args->x[i] * error;
  if (IS(crash_in_run)) raise(SIGSEGV);
  if (IS(hang_in_run))
    for (;;) sleep(1);
  if (IS(scratch_overflow)) ((char *)exec->scratch)[exec->scratch_bytes] = 0;
  if (IS(scratch_underflow)) ((char *)exec->scratch)[-1] = 0;
  if (IS(allocates_in_run))
    the_host->free(the_host, exec, SXT_SPACE_HOST, the_host->alloc(the_host, exec, SXT_SPACE_HOST, 8, 8));
  if (IS(error_in_run)) exec->host->set_error(exec->host, exec, "the moon is in the wrong phase");
  return IS(error_in_run) ? SXT_E_STATE : SXT_OK;
}

static const sxt_kernel kernel = {.struct_size = sizeof kernel,
                                  .kind = KIND_SCALE,
                                  .name = "com.example." TEXT(DEFECT),
                                  .device = "cpu",
                                  .flags = IS(thread_dependent_bits) ? SXT_KERNEL_DETERMINISTIC : 0,
                                  .applicable = applicable,
                                  .candidates = candidates,
                                  .prepare = prepare,
                                  .refresh = refresh,
                                  .open = open_session,
                                  .run = run,
                                  .close = close_session,
                                  .release = free};

SXT_PLUGIN_EXPORT sxt_status sxt_plugin_entry_0(const sxt_host *host, const sxt_plugin **out) {
  static const sxt_kernel *const kernels[] = {&kernel};
  static const sxt_plugin plugin = MOCK_PLUGIN("mock-" TEXT(DEFECT), "1.0", MOCK_COUNTED(kernels, kernels));
  the_host = host;
  *out = &plugin;
  return SXT_OK;
}
