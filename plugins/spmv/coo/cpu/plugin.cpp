// SPDX-License-Identifier: BSD-3-Clause
// Plugin spmv-coo: products with matrices in coordinates on the CPU.
#include "coo_model.hpp"

using namespace sextant::plugin;

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *host, const sxt_plugin **out) {
  take_team(host);
  using namespace sextant::spmv_coo;
  static const sxt_kernel *const kernels[] = {&serial_kernel, &segmented_kernel};
  static const sxt_plugin plugin = describe("spmv-coo", kernels);
  return *out = &plugin, SXT_OK;
}
