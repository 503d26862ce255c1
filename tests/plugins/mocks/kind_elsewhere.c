/* SPDX-License-Identifier: BSD-3-Clause */
/* mock-elsewhere: a kind whose reference runs on a device that is not present, and a wrong kernel of it for the CPU,
 * which cannot be tested here. */
#include <stdlib.h>

#include "plugin_table.h"
#include "sextant/plugin/plugin.h"

#define KIND "com.example.elsewhere/1"

typedef struct {
  sxt_head h;
  double *out;
} args;
typedef struct {
  sxt_query query;
  args a;
  double out;
} one_case;

static sxt_status right(const void *state, void *session, const sxt_head *head, const sxt_exec *exec) {
  (void)state, (void)session, (void)exec;
  *((const args *)head)->out = 1;
  return SXT_OK;
}
static sxt_status wrong(const void *state, void *session, const sxt_head *head, const sxt_exec *exec) {
  (void)state, (void)session, (void)exec;
  *((const args *)head)->out = 42;
  return SXT_OK;
}

static sxt_status make_case(const sxt_host *host, uint64_t seed, uint64_t i, sxt_case *out) {
  (void)host, (void)seed, (void)i;
  one_case *c = calloc(1, sizeof *c);
  if (!c) return SXT_E_MEMORY;
  c->query = (sxt_query){{sizeof c->query, KIND}, 1, 0, SXT_F64};
  c->a = (args){{sizeof c->a, KIND}, &c->out};
  out->description = "one";
  out->query = &c->query;
  out->args = &c->a.h;
  out->owner = c;
  return SXT_OK;
}
static sxt_status compare(const sxt_case *got, const sxt_case *want, double *error, sxt_message *message) {
  (void)message;
  *error = ((const one_case *)got->owner)->out == ((const one_case *)want->owner)->out ? 0 : 2;
  return SXT_OK;
}
static void free_case(sxt_case *c) { free(c->owner); }

static const sxt_kernel reference = {.struct_size = sizeof reference,
                                     .kind = KIND,
                                     .name = "com.example.elsewhere.reference",
                                     .device = "moon",
                                     .run = right};
static const sxt_kernel kernel = {
    .struct_size = sizeof kernel, .kind = KIND, .name = "com.example.elsewhere.wrong", .device = "cpu", .run = wrong};
static const sxt_kind kind = {.struct_size = sizeof kind,
                              .id = KIND,
                              .description = "a number",
                              .reference = &reference,
                              .n_cases = 1,
                              .make_case = make_case,
                              .compare = compare,
                              .free_case = free_case};

SXT_PLUGIN_EXPORT sxt_status sxt_plugin_entry_0(const sxt_host *host, const sxt_plugin **out) {
  (void)host;
  static const sxt_kernel *const kernels[] = {&kernel};
  static const sxt_kind *const kinds[] = {&kind};
  static const sxt_plugin plugin =
      MOCK_PLUGIN("mock-elsewhere", "1.0", MOCK_COUNTED(kernels, kernels), MOCK_COUNTED(kinds, kinds));
  *out = &plugin;
  return SXT_OK;
}
