// SPDX-License-Identifier: BSD-3-Clause
// launch.measured: the least time that the performance model predicts; it declines where no configuration has one.
#include <cmath>
#include <cstdint>

#include "sextant/sdk/launch.hpp"

using namespace sextant::plugin;
using namespace sextant::plugin::launch;

namespace {

std::int64_t choose(const sxt_launch_args &args) {
  std::int64_t best = -1;
  for (std::int64_t i = 0; i < args.count; ++i) {
    const sxt_launch_config &config = args.configs[i];
    if (!launchable(config, args.limits) || !std::isfinite(config.run_s) || config.run_s < 0) continue;
    if (best < 0 || config.run_s < args.configs[best].run_s) best = i;
  }
  return best;
}

const sxt_kernel kernel = policy<choose>("launch.measured", "the least predicted time");

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  static const sxt_kernel *const kernels[] = {&kernel};
  static const sxt_plugin plugin = describe("launch-measured", kernels);
  return *out = &plugin, SXT_OK;
}
