// SPDX-License-Identifier: BSD-3-Clause
// launch.measured: the least time that the performance model predicts; it declines where no configuration has one.
#include "sextant/sdk/describe.hpp"
#include "sextant/sdk/launch.hpp"

using namespace sextant::plugin;
using namespace sextant::plugin::launch;

namespace {

const sxt_kernel kernel = policy<choose_measured>("launch.measured", "the least predicted time");

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  return offer<&kernel>("launch-measured", out);
}
