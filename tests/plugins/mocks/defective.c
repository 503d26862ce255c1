/* SPDX-License-Identifier: BSD-3-Clause */
/* Plugins whose tables are wrong or unusual at load: one module for each name below, chosen by -DDEFECT=<name>. A
 * module is named after its defect, with '-' for '_'. */
#include <signal.h>
#include <stdlib.h>

#include "scale.h"

enum {
  none,         /* nothing wrong; tests replace the "@@@" in its names in copies */
  newer_struct, /* nothing wrong: structs longer than this library's, as of a later minor */
  older_version,
  newer_version, /* both named mock-versioned */
  old_major,
  newer_minor,
  needs_newer_host,
  wrong_magic,
  small_struct,
  nameless,
  bad_name,
  nothing_inside,
  entry_error,
  entry_null,
  entry_crash,
  no_symbol,
  future_symbol,
  undefined_symbol,
  kernel_without_run,
  kernel_without_name,
  kernel_null,
  kernel_small,
  kernel_bad_kind,
  kernel_bad_slot,
  duplicate_kernel,
  duplicate_kind,
  unknown_kind,
  kind_without_compare,
  kind_foreign_reference,
  device_without_ops
};

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
#define NAME "com.example." TEXT(DEFECT)
#define IS(defect) (DEFECT == defect)

static sxt_status run(const void *state, void *session, const sxt_head *head, const sxt_exec *exec) {
  (void)state, (void)session, (void)exec;
  const scale_args *args = (const scale_args *)head;
  for (int64_t i = 0; i < args->n; ++i) args->y[i] = *(const double *)args->factor.value * args->x[i];
  return SXT_OK;
}

static const sxt_slot broken_slot = {"A", NULL, 0, 1, 1, 0};

/* A kernel with space behind it, for the defect that states a longer struct. */
static struct {
  sxt_kernel kernel;
  void *later[4];
} first = {{.struct_size = IS(newer_struct)   ? sizeof first
                           : IS(kernel_small) ? SXT_END_OF(sxt_kernel, ops)
                                              : sizeof(sxt_kernel),
            .kind = IS(unknown_kind)         ? "com.example.unheard-of/1"
                    : IS(kernel_bad_kind)    ? "scale"
                    : IS(device_without_ops) ? "sxt.device/1"
                                             : KIND_SCALE,
            .name = IS(kernel_without_name) ? NULL
                    : IS(none)              ? "com.example.copy-@@@"
                                            : NAME,
            .device = "cpu",
            .slots = &broken_slot,
            .n_slots = IS(kernel_bad_slot),
            .run = IS(kernel_without_run) ? NULL : run},
           {0}};
static const sxt_kernel second = {
    .struct_size = sizeof second, .kind = KIND_SCALE, .name = NAME ".second", .device = "cpu", .run = run};
static const sxt_kernel twin = {
    .struct_size = sizeof twin, .kind = KIND_SCALE, .name = NAME, .device = "cpu", .run = run};

static const sxt_kernel foreign = {
    .struct_size = sizeof foreign, .kind = "com.example.other/1", .name = "x", .device = "cpu", .run = run};
static const sxt_kind bad_kind = {.struct_size = sizeof bad_kind,
                                  .id = IS(duplicate_kind) ? KIND_SCALE : "com.example." TEXT(DEFECT) "/1",
                                  .reference = IS(kind_foreign_reference) ? &foreign : NULL,
                                  .n_cases = IS(kind_without_compare)};

/* Every module, except those about several kernels, has one good kernel beside the defective one. */
static const sxt_kernel *const kernels[] = {IS(kernel_null) ? NULL : &first.kernel,
                                            IS(duplicate_kernel) ? &twin : &second};
static const sxt_kind *const kinds[] = {&bad_kind};

static struct {
  sxt_plugin plugin;
  void *later[4];
} description = {{.magic = IS(wrong_magic) ? 0x12345678 : SXT_PLUGIN_MAGIC,
                  .abi_major = IS(old_major) ? SXT_PLUGIN_ABI_MAJOR + 7 : SXT_PLUGIN_ABI_MAJOR,
                  .abi_minor = IS(newer_minor) ? SXT_PLUGIN_ABI_MINOR + 1 : SXT_PLUGIN_ABI_MINOR,
                  .min_host_minor = IS(needs_newer_host) ? SXT_PLUGIN_ABI_MINOR + 5 : SXT_PLUGIN_ABI_MINOR,
                  .struct_size = IS(newer_struct)   ? sizeof description
                                 : IS(small_struct) ? SXT_END_OF(sxt_plugin, n_kernels)
                                                    : sizeof(sxt_plugin),
                  .name = IS(nameless)                             ? NULL
                          : IS(bad_name)                           ? "mock name\n"
                          : IS(older_version) || IS(newer_version) ? "mock-versioned"
                          : IS(none)                               ? "mock-copy-@@@"
                                                                   : "mock-" TEXT(DEFECT),
                  .version = IS(newer_version)   ? "1.10"
                             : IS(older_version) ? "1.9.3"
                                                 : "1.0",
                  .n_kernels = IS(nothing_inside)             ? 0
                               : IS(none) || IS(unknown_kind) ? 1
                                                              : 2,
                  .kernels = kernels,
                  .n_kinds = IS(duplicate_kind) || IS(kind_without_compare) || IS(kind_foreign_reference),
                  .kinds = kinds},
                 {0}};

#if DEFECT_NUMBER == 1 /* the entry has another name, or a later one */
#define sxt_plugin_entry_0 sxt_plugin_entrance
#elif DEFECT_NUMBER == 2
#define sxt_plugin_entry_0 sxt_plugin_entry_1
#endif
SXT_PLUGIN_EXPORT sxt_status sxt_plugin_entry_0(const sxt_host *host, const sxt_plugin **out);

#if DEFECT_NUMBER == 3
extern void a_function_without_definition(void);
#endif

SXT_PLUGIN_EXPORT sxt_status sxt_plugin_entry_0(const sxt_host *host, const sxt_plugin **out) {
#if DEFECT_NUMBER == 3
  a_function_without_definition();
#endif
  if (IS(entry_crash)) raise(SIGSEGV);
  if (IS(entry_error)) {
    host->set_error(host, NULL, "the licence server did not answer");
    return SXT_E_DEVICE;
  }
  if (!IS(entry_null)) *out = &description.plugin;
  return SXT_OK;
}
