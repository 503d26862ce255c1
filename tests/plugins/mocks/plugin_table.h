/* SPDX-License-Identifier: BSD-3-Clause */
/* The table and the entry of a mock's plugin. */
#ifndef MOCK_PLUGIN_TABLE_H
#define MOCK_PLUGIN_TABLE_H
#include "sextant/plugin/plugin.h"

/* A table with the members that follow name and version, and with those that every plugin of this build has. */
#define MOCK_PLUGIN(plugin_name, plugin_version, ...)                                                \
  {                                                                                                  \
    .magic = SXT_PLUGIN_MAGIC, .abi_major = SXT_PLUGIN_ABI_MAJOR, .abi_minor = SXT_PLUGIN_ABI_MINOR, \
    .min_host_minor = SXT_PLUGIN_ABI_MINOR, .struct_size = sizeof(sxt_plugin), .name = plugin_name,  \
    .version = plugin_version, __VA_ARGS__                                                           \
  }
#define MOCK_COUNTED(member, array) .n_##member = sizeof array / sizeof *array, .member = array

/* The entry of a plugin that has nothing but these kernels. */
#define MOCK_ENTRY(plugin_name, plugin_version, ...)                                                       \
  SXT_PLUGIN_EXPORT sxt_status sxt_plugin_entry_0(const sxt_host *host, const sxt_plugin **out) {          \
    static const sxt_kernel *const own[] = {__VA_ARGS__};                                                  \
    static const sxt_plugin plugin = MOCK_PLUGIN(plugin_name, plugin_version, MOCK_COUNTED(kernels, own)); \
    return (void)host, *out = &plugin, SXT_OK;                                                             \
  }

#endif
