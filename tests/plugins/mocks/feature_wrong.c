/* SPDX-License-Identifier: BSD-3-Clause */
/* mock-feature: a third party's feature kernel that offers a feature of the library's own, without reading anything and
 * with a wrong number. */
#include <math.h>
#include <string.h>

#include "sextant/plugin/kinds/features.h"

static sxt_status run(const void *state, void *session, const sxt_head *head, const sxt_exec *exec) {
  (void)state, (void)session, (void)exec;
  const sxt_features_args *args = (const sxt_features_args *)head;
  for (uint64_t i = 0; i < args->count; ++i) args->values[i] = strcmp(args->names[i], "row_nnz_max") ? NAN : 1e6;
  return SXT_OK;
}

static const char *const names[] = {"row_nnz_max", NULL};
static const sxt_features_ops ops = {.struct_size = sizeof ops, .names = names};
static const sxt_kernel kernel = {.struct_size = sizeof kernel,
                                  .kind = SXT_KIND_FEATURES,
                                  .name = "com.example.feature_wrong",
                                  .device = "cpu",
                                  .flags = SXT_KERNEL_DETERMINISTIC,
                                  .ops = &ops,
                                  .run = run};

SXT_PLUGIN_EXPORT sxt_status sxt_plugin_entry_0(const sxt_host *host, const sxt_plugin **out) {
  (void)host;
  static const sxt_kernel *const kernels[] = {&kernel};
  static const sxt_plugin plugin = {.magic = SXT_PLUGIN_MAGIC,
                                    .abi_major = SXT_PLUGIN_ABI_MAJOR,
                                    .abi_minor = SXT_PLUGIN_ABI_MINOR,
                                    .min_host_minor = SXT_PLUGIN_ABI_MINOR,
                                    .struct_size = sizeof plugin,
                                    .name = "mock-feature-wrong",
                                    .version = "1.0",
                                    .n_kernels = 1,
                                    .kernels = kernels};
  *out = &plugin;
  return SXT_OK;
}
