// SPDX-License-Identifier: BSD-3-Clause
// Plugin spmv-csr: products with CSR matrices on the CPU.
#include "csr_model.hpp"
#include "sextant/sdk/describe.hpp"

using namespace sextant::plugin;

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *host, const sxt_plugin **out) {
  take_team(host);
  using namespace sextant::spmv_csr;
  return offer<&rows_kernel, &simd_kernel, &balanced_kernel>("spmv-csr", out);
}
