// SPDX-License-Identifier: BSD-3-Clause
// Plugin spmv-coo: products with matrices in coordinates on the CPU.
#include "coo_model.hpp"
#include "sextant/sdk/describe.hpp"

using namespace sextant::plugin;

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *host, const sxt_plugin **out) {
  take_team(host);
  using namespace sextant::spmv_coo;
  return offer<&serial_kernel, &segmented_kernel>("spmv-coo", out);
}
