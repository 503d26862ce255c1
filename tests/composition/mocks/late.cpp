// SPDX-License-Identifier: BSD-3-Clause
// A kernel and, in another file made of the same source, its kind. Built with KERNEL_OF the id of the kind, and with or
// without DEFINES_KIND.
#include "sextant/sdk/kernel.hpp"

using namespace sextant::plugin;

namespace {

sxt_status run(const void *, void *, const sxt_head *, const sxt_exec *) { return SXT_OK; }

[[maybe_unused]] const sxt_kernel kernel = new_kernel(KERNEL_OF, KERNEL_NAME, "cpu", "does nothing", run);
[[maybe_unused]] const sxt_kind kind = new_kind(KERNEL_OF, "comes late");

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
#if DEFINES_KIND
  static const sxt_kernel *const none[] = {nullptr};
  static const sxt_kind *const kinds[] = {&kind};
  static sxt_plugin plugin = describe("hard-kind-of-" KERNEL_NAME, none, kinds, 1);
  plugin.n_kernels = 0;
#else
  static const sxt_kernel *const kernels[] = {&kernel};
  static const sxt_plugin plugin = describe("hard-" KERNEL_NAME, kernels);
#endif
  return *out = &plugin, SXT_OK;
}
