// SPDX-License-Identifier: BSD-3-Clause
// The description of a plugin that is not the library's own. Header-only, no part of the ABI.
#pragma once

#include "sextant/sdk/describe.hpp"

namespace sextant::plugin {

// What describe() returns, with a version, vendor and license of its own (NULL: none is named).
inline sxt_plugin third_party(sxt_plugin plugin, const char *version, const char *vendor, const char *license) {
  plugin.version = version;
  plugin.vendor = vendor;
  plugin.license = license;
  return plugin;
}

// What offer() does, for such a plugin.
template <auto... parts>
sxt_status offer_as(const char *name, const char *version, const char *vendor, const char *license,
                    const sxt_plugin **out) {
  static constexpr Offered<sxt_kernel, parts...> kernels;
  static constexpr Offered<sxt_kind, parts...> kinds;
  static const sxt_plugin plugin = third_party(
      describe(name, kernels.items, kinds.count ? kinds.items : nullptr, kinds.count), version, vendor, license);
  return *out = &plugin, SXT_OK;
}

}  // namespace sextant::plugin
