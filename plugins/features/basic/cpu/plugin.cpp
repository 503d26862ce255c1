// SPDX-License-Identifier: BSD-3-Clause
// Plugin features-basic: features of sparse matrices in tiers, from sizes to every column.
#include "features.hpp"
#include "sextant/sdk/cpu/threads.hpp"

using namespace sextant::plugin;

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *host, const sxt_plugin **out) {
  take_team(host);
  using namespace sextant::features_basic;
  static const sxt_kernel *const kernels[] = {&sizes_kernel,  &rows_kernel,    &order_kernel,
                                              &sample_kernel, &columns_kernel, &reference_kernel};
  static const sxt_kind *const kinds[] = {&kind};
  static const sxt_plugin plugin = describe("features-basic", kernels, kinds, 1);
  return *out = &plugin, SXT_OK;
}
