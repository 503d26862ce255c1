// SPDX-License-Identifier: BSD-3-Clause
// The description of a plugin that is not the library's own. Header-only, no part of the ABI.
#pragma once

#include "sextant/plugin/plugin.h"

namespace sextant::plugin {

// What describe() returns, with a version, vendor and license of its own (NULL: none is named).
inline sxt_plugin third_party(sxt_plugin plugin, const char *version, const char *vendor, const char *license) {
  plugin.version = version;
  plugin.vendor = vendor;
  plugin.license = license;
  return plugin;
}

}  // namespace sextant::plugin
