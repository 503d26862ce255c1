// SPDX-License-Identifier: BSD-3-Clause
// launch.tiered: the block size from the number of threads alone (CN104102513A); choose_tiered has the tiers.
#include "sextant/sdk/describe.hpp"
#include "sextant/sdk/launch.hpp"

using namespace sextant::plugin;
using namespace sextant::plugin::launch;

namespace {

const sxt_kernel kernel = policy<choose_tiered>("launch.tiered", "block size by tiers of the number of threads");

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  return offer<&kernel>("launch-tiered", out);
}
