// SPDX-License-Identifier: BSD-3-Clause
// Plugins that let C++ exceptions escape: from the entry (-DTHROW_IN_ENTRY=1), or from run.
#include <stdexcept>

#include "scale.h"

namespace {

sxt_status run(const void *, void *, const sxt_head *, const sxt_exec *) { throw std::runtime_error("thrown in run"); }

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  if (THROW_IN_ENTRY) throw std::runtime_error("thrown in the entry");
  static const sxt_kernel kernel = [] {
    sxt_kernel k{};
    k.struct_size = sizeof k;
    k.kind = KIND_SCALE;
    k.name = "com.example.throw_in_run";
    k.device = "cpu";
    k.run = run;
    return k;
  }();
  static const sxt_kernel *const kernels[] = {&kernel};
  static const sxt_plugin plugin = [] {
    sxt_plugin p{};
    p.magic = SXT_PLUGIN_MAGIC;
    p.abi_major = SXT_PLUGIN_ABI_MAJOR;
    p.abi_minor = p.min_host_minor = SXT_PLUGIN_ABI_MINOR;
    p.struct_size = sizeof p;
    p.name = "mock-throw_in_run";
    p.version = "1.0";
    p.n_kernels = 1;
    p.kernels = kernels;
    return p;
  }();
  *out = &plugin;
  return SXT_OK;
}
