// SPDX-License-Identifier: BSD-3-Clause
// Plugin spmv-csr-cuda: products with CSR matrices on CUDA devices.
#include "csr_state.cuh"
#include "sextant/sdk/describe.hpp"

using namespace sextant::plugin;

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  using namespace sextant::spmv_csr_cuda;
  return offer<&scalar_kernel, &vector_kernel, &adaptive_kernel_table, &balanced_kernel_table, &scatter_kernel,
               &adaptive_dots_kernel>("spmv-csr-cuda", out);
}
