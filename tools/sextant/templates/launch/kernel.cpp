// SPDX-License-Identifier: BSD-3-Clause
// @KERNEL@: of the launch configurations that can run, the one with the largest blocks; of those, the first. A policy
// is pure: it has no state, and nothing to refresh or to open.
#include <cstdint>

#include "sextant/sdk/launch.hpp"
#include "sextant/sdk/third_party.hpp"

using namespace sextant::plugin;
using namespace sextant::plugin::launch;

namespace {

// Can a multiprocessor hold one block of it?
bool can_run(const sxt_launch_config &c, const sxt_launch_limits &l) {
  return c.threads > 0 && c.blocks > 0 && c.threads <= l.threads_per_block && c.shared_bytes <= l.shared_per_block &&
         c.threads * c.registers <= l.registers_per_unit;
}

std::int64_t choose(const sxt_launch_args &args) {
  std::int64_t best = -1;
  for (std::int64_t i = 0; i < args.count; ++i)
    if (can_run(args.configs[i], args.limits) && (best < 0 || args.configs[i].threads > args.configs[best].threads))
      best = i;
  return best;
}

const sxt_kernel kernel = policy<choose>("@KERNEL@", "the largest blocks that can run");

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  static const sxt_kernel *const kernels[] = {&kernel};
  static const sxt_plugin plugin = third_party(describe("@NAME@", kernels), "0.1.0", nullptr, nullptr);
  return *out = &plugin, SXT_OK;
}
