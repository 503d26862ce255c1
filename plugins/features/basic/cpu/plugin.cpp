// SPDX-License-Identifier: BSD-3-Clause
// Plugin features-basic: features of sparse matrices in tiers, from sizes to every column.
#include "features.hpp"
#include "sextant/sdk/cpu/threads.hpp"
#include "sextant/sdk/describe.hpp"

using namespace sextant::plugin;

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *host, const sxt_plugin **out) {
  take_team(host);
  using namespace sextant::features_basic;
  return offer<&sizes_kernel, &rows_kernel, &order_kernel, &sample_kernel, &columns_kernel, &reference_kernel, &kind>(
      "features-basic", out);
}
