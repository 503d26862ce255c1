/* SPDX-License-Identifier: BSD-3-Clause */
/* A plugin whose entry crashes, hangs, ends the process, or prints and then fails: `sextant plugin check` must survive
 * and name it. Which one is chosen by a macro. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "sextant/plugin/plugin.h"

sxt_status sxt_plugin_entry_0(const sxt_host *host, const sxt_plugin **out) {
  (void)host;
  (void)out;
#if defined(MISBEHAVE_CRASH)
  abort(); /* a signal that no sanitizer turns into an exit code */
#elif defined(MISBEHAVE_HANG)
  for (;;) pause();
#elif defined(MISBEHAVE_EXIT)
  exit(0); /* looks like success to a parent that does not check further */
#elif defined(MISBEHAVE_CHATTER)
  puts("{\"verdict\": \"printed by the plugin\"}");
  fflush(stdout);
#endif
  return SXT_E_PLUGIN;
}
