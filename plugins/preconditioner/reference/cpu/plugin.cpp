// SPDX-License-Identifier: BSD-3-Clause
// The plugin's edge.
#include "reference.hpp"
#include "sextant/sdk/kernel.hpp"

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  static const sxt_kernel *const kernels[] = {&preconditioner_reference::identity()};
  static const sxt_kind *const kinds[] = {&preconditioner_reference::kind()};
  static const sxt_plugin table = sextant::plugin::describe("preconditioner-reference", kernels, kinds, 1);
  *out = &table;
  return SXT_OK;
}
