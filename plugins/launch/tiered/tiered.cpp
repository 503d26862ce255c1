// SPDX-License-Identifier: BSD-3-Clause
// launch.tiered: the block size from the number of threads alone (CN104102513A). Tiers are 3, 4 and 6 warps a block:
// the smallest with which every thread is resident at once, blocks_per_unit blocks on each multiprocessor; beyond them
// 8 warps. With 16 blocks a multiprocessor and warps of 32 this is the published table: up to 1536 threads a
// multiprocessor 96, up to 2048 128, up to 3072 192, else 256.
#include <cstdint>
#include <cstdlib>

#include "sextant/sdk/launch.hpp"

using namespace sextant::plugin;
using namespace sextant::plugin::launch;

namespace {

std::int64_t wanted_threads(std::int64_t total, const sxt_launch_limits &limits) {
  const std::int64_t warp = limits.warp > 0 ? limits.warp : 32;
  const std::int64_t blocks = limits.blocks_per_unit > 0 ? limits.blocks_per_unit : 16;
  const std::int64_t units = limits.units > 0 ? limits.units : 1;
  for (const std::int64_t warps : {3, 4, 6})
    if (total <= warps * warp * blocks * units) return warps * warp;
  return 8 * warp;
}

// The first configuration gives the total number of threads, which is kept.
std::int64_t choose(const sxt_launch_args &args) {
  if (args.count == 0) return -1;
  const std::int64_t total = args.configs[0].blocks * args.configs[0].threads;
  const std::int64_t wanted = wanted_threads(total, args.limits);
  std::int64_t best = -1, best_size = 0, best_grid = 0;
  for (std::int64_t i = 0; i < args.count; ++i) {
    const sxt_launch_config &config = args.configs[i];
    if (!launchable(config, args.limits)) continue;
    // The block size first, then the number of threads in all; the earlier configuration of equals.
    const std::int64_t size = std::llabs(config.threads - wanted);
    const std::int64_t grid = std::llabs(config.blocks * config.threads - total);
    if (best < 0 || size < best_size || (size == best_size && grid < best_grid))
      best = i, best_size = size, best_grid = grid;
  }
  return best;
}

const sxt_kernel kernel = policy<choose>("launch.tiered", "block size by tiers of the number of threads");

}  // namespace

extern "C" sxt_status sxt_plugin_entry_0(const sxt_host *, const sxt_plugin **out) {
  static const sxt_kernel *const kernels[] = {&kernel};
  static const sxt_plugin plugin = describe("launch-tiered", kernels);
  return *out = &plugin, SXT_OK;
}
