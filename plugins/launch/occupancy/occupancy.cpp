// SPDX-License-Identifier: BSD-3-Clause
// launch.occupancy: the most resident warps a multiprocessor, then the fullest last wave; choose_occupancy has the
// ties.
#include "sextant/sdk/describe.hpp"
#include "sextant/sdk/launch.hpp"

using namespace sextant::plugin;
using namespace sextant::plugin::launch;

namespace {

const sxt_kernel kernel =
    policy<choose_occupancy>("launch.occupancy", "most resident warps, then the fullest last wave");

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  return offer<&kernel>("launch-occupancy", out);
}
