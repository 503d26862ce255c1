// SPDX-License-Identifier: BSD-3-Clause
// The kernel descriptor of a storage, for every device. A storage is a kernel that is prepared (converted) and
// refreshed but never run: its matrix is read through sxt_storage_ops. Header-only, no part of the ABI.
#pragma once

#include "sextant/plugin/kinds/storage.h"
#include "sextant/sdk/describe.hpp"

namespace sextant::plugin {

// Members of a storage's descriptor; features and applicable may be null.
struct StorageCalls {
  const sxt_storage_ops *ops;
  decltype(sxt_kernel::features) features;
  KernelCalls calls;
};

// A deterministic conversion to `kind`, whose prepared matrix is a State.
template <class State>
sxt_kernel new_storage(const char *kind, const char *name, const char *device, const char *description,
                       const StorageCalls &calls) {
  const auto never_run = [](const void *, void *, const sxt_head *, const sxt_exec *) -> sxt_status {
    return SXT_E_NOT_SUPPORTED;
  };
  sxt_kernel k = new_kernel(kind, name, device, description, never_run);
  k.flags = SXT_KERNEL_DETERMINISTIC;
  k.ops = calls.ops;
  k.features = calls.features;
  set_calls<State>(k, calls.calls);
  return k;
}

}  // namespace sextant::plugin
